/// <reference lib="dom" />
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { BROWSER_TIMEOUT_MS } from './browser.ts';

/** A page in a browser context. */
export interface TestPage {
  page: Page;
  context: BrowserContext;
}

export interface PageAppearance {
  viewport: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
}

/** The events that tests listen to. */
const EVENTS = ['console', 'dialog', 'page', 'pageerror', 'popup', 'request'];

/** Cleared pages that no test uses. */
const idle: TestPage[] = [];

/**
 * Opens a page for the running test. Pages are reused, because a new one costs two thirds of a second of CPU time;
 * `options` apply to new pages only and so force one.
 */
export async function openTestPage(
  browser: Browser,
  { viewport, colorScheme = 'light' }: PageAppearance,
  options?: BrowserContextOptions,
): Promise<TestPage> {
  const isReusable = options === undefined;
  const opened = (isReusable ? idle.pop() : undefined) ?? (await newPage(browser, options));
  onTestFinished(async ({ task }) => {
    if (!isReusable || task.result?.state === 'fail') return opened.context.close();
    await clearPage(opened);
    idle.push(opened);
  });
  await opened.page.setViewportSize(viewport);
  await opened.page.emulateMedia({ colorScheme });
  return opened;
}

async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<TestPage> {
  const permissions = ['clipboard-read', 'clipboard-write'];
  const context = await browser.newContext({ permissions, locale: 'en-GB', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(BROWSER_TIMEOUT_MS);
  return { page, context };
}

/** Resets content, storage, routes, listeners and the mouse. */
async function clearPage({ page, context }: TestPage): Promise<void> {
  for (const event of EVENTS) {
    page.removeAllListeners(event);
    context.removeAllListeners(event);
  }
  for (const other of context.pages()) if (other !== page) await other.close();
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
