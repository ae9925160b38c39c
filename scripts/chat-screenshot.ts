/// <reference lib="dom" />
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchChromium } from '../test/support/browser.ts';
import { runCli } from '../test/support/run-cli.ts';

// Creates docs/page.png, the screenshot of the README: npm run build && node scripts/chat-screenshot.ts

const ROOT = join(import.meta.dirname, '..');
/** One conversation each; the screenshot shows the last one. */
const QUESTIONS = [
  'What is ROS 2?',
  'What is a digital twin?',
  'How does domain randomization help with sim-to-real transfer?',
];

const home = await mkdtemp(join(tmpdir(), 'citeloop-screenshot-'));
const stopping = new AbortController();
const browser = await launchChromium();
try {
  await ingestBook();
  const { url, ended } = await serveBook(stopping.signal);
  await takeScreenshot(url);
  stopping.abort();
  await ended;
} finally {
  stopping.abort();
  await browser.close();
  await rm(home, { recursive: true, force: true });
}

async function takeScreenshot(url: string): Promise<void> {
  const viewport = { width: 1280, height: 800 };
  const page = await browser.newPage({ locale: 'en-GB', viewport, colorScheme: 'light' });
  await page.goto(url);
  await page.getByText('book: ').waitFor();
  for (const question of QUESTIONS) await ask(page, question);
  await page.getByRole('article').locator('.cite').first().click();
  await page.getByRole('dialog').locator('mark').first().waitFor();
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  await page.screenshot({ path: join(ROOT, 'docs/page.png'), animations: 'disabled' });
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByRole('button', { name: 'New', exact: true }).click();
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
