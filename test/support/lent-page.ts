/// <reference lib="dom" />
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { PATIENCE_MS } from './browser.ts';

/** A page, alone in its context but for those that it opens. */
export interface LentPage {
  page: Page;
  context: BrowserContext;
}

export interface Appearance {
  viewport: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
}

/** What a test may have listened to. */
const EVENTS = ['console', 'dialog', 'page', 'pageerror', 'popup', 'request'];

/** Those that no test has now, empty. */
const kept: LentPage[] = [];

/**
 * A page for the running test. A new one takes the browser two thirds of a second of the processor, so that one that
 * another test is done with is lent again; what only a new one can be given is asked for by `options`.
 */
export async function lendPage(
  browser: Browser,
  { viewport, colorScheme = 'light' }: Appearance,
  options?: BrowserContextOptions,
): Promise<LentPage> {
  const isKept = options === undefined;
  const lent = (isKept ? kept.pop() : undefined) ?? (await newPage(browser, options));
  onTestFinished(async ({ task }) => {
    if (!isKept || task.result?.state === 'fail') return lent.context.close();
    await empty(lent);
    kept.push(lent);
  });
  await lent.page.setViewportSize(viewport);
  await lent.page.emulateMedia({ colorScheme });
  return lent;
}

async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<LentPage> {
  const permissions = ['clipboard-read', 'clipboard-write'];
  const context = await browser.newContext({ permissions, locale: 'en-GB', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  return { page, context };
}

/** As a new one is: nothing shown, stored, opened, routed, listened to or pointed at. */
async function empty({ page, context }: LentPage): Promise<void> {
  for (const event of EVENTS) {
    page.removeAllListeners(event);
    context.removeAllListeners(event);
  }
  for (const opened of context.pages()) if (opened !== page) await opened.close();
  await page.unrouteAll();
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await context.clearCookies();
  await page.mouse.move(0, 0);
  await page.emulateMedia({ media: null });
  await page.goto('about:blank');
}
