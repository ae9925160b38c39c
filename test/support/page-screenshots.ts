/// <reference lib="dom" />
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from './browser.ts';
import { runCli } from './run-cli.ts';

// Creates docs/page.png and docs/page-phone.png: node test/support/page-screenshots.ts

const ROOT = join(import.meta.dirname, '../..');
/** One conversation each; the screenshot shows the last one. */
const QUESTIONS = [
  'What is ROS 2?',
  'What is a digital twin?',
  'How does domain randomization help with sim-to-real transfer?',
];

const home = await mkdtemp(join(tmpdir(), 'citeloop-screenshots-'));
const stopping = new AbortController();
try {
  await ingestBook();
  const { url, ended } = await serveBook(stopping.signal);
  const browser = await launchChromium();
  try {
    await takeScreenshot(url, 'page.png', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    await takeScreenshot(url, 'page-phone.png', {
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
    });
  } finally {
    await browser.close();
    stopping.abort();
    await ended;
  }

  async function takeScreenshot(
    address: string,
    name: string,
    options: BrowserContextOptions,
  ): Promise<void> {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    const page = await context.newPage();
    await page.goto(address);
    await page.getByText('book: ').waitFor();
    const questions = name === 'page.png' ? QUESTIONS : QUESTIONS.slice(-1);
    for (const question of questions) await ask(page, question);
    if (name === 'page.png') {
      await page.getByRole('article').locator('.cite').first().click();
      await page.getByRole('dialog').locator('mark').first().waitFor();
    }
    await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
    await page.screenshot({ path: join(ROOT, 'docs', name), animations: 'disabled' });
    await context.close();
  }
} finally {
  await rm(home, { recursive: true, force: true });
}

async function ask(page: Page, question: string): Promise<void> {
  const start = page.getByRole('button', { name: 'New', exact: true });
  if (await start.isVisible()) await start.click();
  await page.getByRole('heading', { name: 'Ask your documents' }).waitFor();
  await page.getByRole('textbox', { name: 'Your question' }).fill(question);
  await page.getByRole('textbox', { name: 'Your question' }).press('Enter');
  await page.getByRole('button', { name: 'Copy as Markdown' }).waitFor();
}

/** With a base URL, so that the screenshot shows no local path. */
async function ingestBook(): Promise<void> {
  const book = join(ROOT, 'fixtures/book');
  const flags = ['--collection', 'book', '--base-url', 'https://book.example/'];
  const { code, stderr } = await runCli(['ingest', book, ...flags], { home });
  if (code !== 0) throw new Error(stderr);
}

async function serveBook(signal: AbortSignal): Promise<{ url: string; ended: Promise<unknown> }> {
  const started = Promise.withResolvers<string>();
  const ended = runCli(['serve', '--collection', 'book', '--port', '0', '--json'], {
    home,
    onStart(child) {
      signal.addEventListener('abort', () => child.kill('SIGINT'));
      child.stdout?.once('data', (line: string) => started.resolve(JSON.parse(line).url));
    },
  });
  ended.then(({ stderr }) => started.reject(new Error(stderr)), started.reject);
  return { url: await started.promise, ended };
}
