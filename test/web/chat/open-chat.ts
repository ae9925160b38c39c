/// <reference lib="dom" />
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { openTestPage, type PageAppearance } from '../../support/test-page.ts';

interface OpenedChat {
  page: Page;
  /** The URLs of all requests. */
  requested: string[];
  /** Ignores browser errors that the test expects; any other fails the test. */
  expectError(pattern: RegExp): void;
}

/**
 * Opens the chat page for the running test. At its end the test fails if the page had an error, violated its content
 * policy, ran injected code (`window.ran`), opened another page, or sent requests to another server.
 */
export async function openChat(
  browser: Browser,
  url: string,
  appearance: Partial<PageAppearance> = {},
  options?: BrowserContextOptions,
): Promise<OpenedChat> {
  const { page, context } = await openTestPage(
    browser,
    { viewport: { width: 1280, height: 800 }, ...appearance },
    options,
  );
  const requested: string[] = [];
  let errors: string[] = [];
  const expected: RegExp[] = [];
  const watch = await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      throw new Error(`content policy violated: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  context.on('request', (request) => requested.push(request.url()));
  context.on('page', (other) => errors.push(`opened ${other.url()}`));
  page.on('pageerror', (error) => errors.push(`threw ${error.message}`));
  page.on('console', (message) => {
    const { url: source } = message.location();
    if (['error', 'warning'].includes(message.type())) errors.push(`${message.text()} ${source}`);
  });
  onTestFinished(async () => {
    const { origin } = new URL(page.url());
    const ran = await page.evaluate(() => 'ran' in window);
    await watch.dispose();
    errors = errors.filter((error) => !expected.some((pattern) => pattern.test(error)));
    expect(errors).toEqual([]);
    expect(ran).toBe(false);
    const origins = new Set(requested.map((address) => new URL(address).origin));
    expect([...origins]).toEqual([origin]);
  });
  await page.goto(url);
  return { page, requested, expectError: (pattern) => expected.push(pattern) };
}

export function questionField(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Your question' });
}

/** Asks, waits for the complete answer and returns the turn. */
export async function ask(page: Page, question: string): Promise<Locator> {
  const turn = await startTurn(page, question);
  await turn.getByRole('button', { name: 'Copy as Markdown' }).waitFor();
  return turn;
}

/** Asks and returns the turn while it runs. */
export async function startTurn(page: Page, question: string): Promise<Locator> {
  const turns = page.getByRole('article');
  const before = await turns.count();
  await questionField(page).fill(question);
  await questionField(page).press('Enter');
  const turn = turns.nth(before);
  await turn.waitFor();
  return turn;
}

/** The last announcement to screen readers. */
export function statusRegion(page: Page): Locator {
  return page.getByRole('status');
}

/** Elements that are wider than their box although they should not scroll sideways. */
export function findOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wide = [
      ...document.querySelectorAll<HTMLElement>(
        'html, body, main, nav, header, form, .source, .passages, .turn',
      ),
    ];
    return wide
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .map(
        (element) =>
          `${element.tagName}.${element.className} ${element.scrollWidth} > ${element.clientWidth}`,
      );
  });
}
