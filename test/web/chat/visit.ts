/// <reference lib="dom" />
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { type Appearance, lendPage } from '../../support/lent-page.ts';

export interface Visit {
  page: Page;
  /** Every address that was asked for. */
  requested: string[];
  /** Takes complaints of the browser that the test is about; whatever is left fails the test. */
  forgive(pattern: RegExp): void;
}

/**
 * A visit of the running test's own. The test fails if the page then has an error, breaks its content policy, runs
 * anything foreign (`window.ran`), opens another page, or asks anybody but its own server.
 */
export async function visit(
  browser: Browser,
  url: string,
  appearance: Partial<Appearance> = {},
  options?: BrowserContextOptions,
): Promise<Visit> {
  const { page, context } = await lendPage(
    browser,
    { viewport: { width: 1280, height: 800 }, ...appearance },
    options,
  );
  const requested: string[] = [];
  let complaints: string[] = [];
  const forgiven: RegExp[] = [];
  const watch = await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      throw new Error(`the policy was broken: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  context.on('request', (request) => requested.push(request.url()));
  context.on('page', (other) => complaints.push(`opened ${other.url()}`));
  page.on('pageerror', (error) => complaints.push(`threw ${error.message}`));
  page.on('console', (message) => {
    const { url: place } = message.location();
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.text()} ${place}`);
  });
  onTestFinished(async () => {
    const { origin } = new URL(page.url());
    const ran = await page.evaluate(() => 'ran' in window);
    await watch.dispose();
    complaints = complaints.filter((complaint) => !forgiven.some((pattern) => pattern.test(complaint)));
    expect(complaints).toEqual([]);
    expect(ran).toBe(false);
    const origins = new Set(requested.map((address) => new URL(address).origin));
    expect([...origins]).toEqual([origin]);
  });
  await page.goto(url);
  return { page, requested, forgive: (pattern) => forgiven.push(pattern) };
}

export function questionField(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Your question' });
}

/** Asks and waits for the whole answer; gives back the turn. */
export async function ask(page: Page, question: string): Promise<Locator> {
  const turn = await begin(page, question);
  await turn.getByRole('button', { name: 'Copy as Markdown' }).waitFor();
  return turn;
}

/** Asks; gives back the turn that begins. */
export async function begin(page: Page, question: string): Promise<Locator> {
  const turns = page.getByRole('article');
  const before = await turns.count();
  await questionField(page).fill(question);
  await questionField(page).press('Enter');
  const turn = turns.nth(before);
  await turn.waitFor();
  return turn;
}

/** What a screen reader was told last. */
export function status(page: Page): Locator {
  return page.getByRole('status');
}

/** Whether anything sticks out to the side, of the page or of a part of it that is not meant to be scrolled. */
export function sidewaysOverflow(page: Page): Promise<string[]> {
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
