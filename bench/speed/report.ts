/// <reference lib="dom" />
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readReportAssets, renderHtmlReport } from '../../src/evaluation/report/render-html-report.ts';
import { reportDirectory } from '../../src/package.ts';
import { syntheticReport } from '../../test/evaluation/report/synthetic-report.ts';
import { findChromium, launchChromium } from '../../test/support/browser.ts';
import { measureMs, median, withTemporaryDirectory } from '../support/measure.ts';
import { type BenchmarkRow, createNote, createRow } from '../support/results.ts';

const CASES = 1000;
const CHUNKS = 5000;
const ROUNDS = 9;
const ARMS = {
  'two arms': ['tool', 'always'],
  'four arms': ['tool', 'always', 'first', 'never'],
} as const;

/** Measures the page of 1000 cases: rendering, size, opening and filtering. */
export function benchReport(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const empty = join(directory, 'empty.html');
    await writeFile(empty, '<!doctype html><title>empty</title><ol id="case-list"><li>nothing</ol>');
    const assets = await readReportAssets(reportDirectory());
    const rows: BenchmarkRow[] = await benchOpening(empty, 'report: empty page', false);
    for (const [name, arms] of Object.entries(ARMS)) {
      const report = syntheticReport({ cases: CASES, arms, chunks: CHUNKS, answerWords: 60 });
      let page = '';
      const rendered: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        rendered.push(
          await measureMs(() => {
            page = renderHtmlReport(report, assets);
          }),
        );
      }
      const file = join(directory, `${arms.length}.html`);
      await writeFile(file, page);
      rows.push(
        createRow(`report: ${CASES} cases, ${name}, rendered`, median(rendered), 'ms'),
        createRow(`report: ${CASES} cases, ${name}, size`, Buffer.byteLength(page) / 1e6, 'MB', {
          target: { of: 'value', atMost: 5 },
        }),
        ...(await benchOpening(file, `report: ${CASES} cases, ${name}`)),
      );
    }
    return rows;
  });
}

async function benchOpening(file: string, name: string, hasFilters = true): Promise<BenchmarkRow[]> {
  if (findChromium() === null) return [createNote(`${name}: not opened, Chromium is not on the PATH`)];
  const browser = await launchChromium();
  try {
    const loaded: number[] = [];
    const filtered: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const page = await browser.newPage();
      await page.addInitScript(() => {
        new MutationObserver((_changes, observer) => {
          if (document.querySelector('#case-list > li') === null) return;
          performance.mark('listed');
          observer.disconnect();
        }).observe(document, { childList: true, subtree: true });
      });
      await page.goto(pathToFileURL(file).href, { waitUntil: 'load' });
      await page.locator('#case-list > li').first().waitFor();
      loaded.push(
        await page.evaluate(() => performance.getEntriesByName('listed')[0]?.startTime ?? Number.NaN),
      );
      if (hasFilters)
        filtered.push(
          await page.evaluate(async () => {
            const field = document.querySelector('#filter-text') as HTMLInputElement;
            field.value = 'gravity friction';
            const started = performance.now();
            field.dispatchEvent(new Event('input', { bubbles: true }));
            // Preact renders in a microtask.
            await Promise.resolve();
            // Forces layout.
            document.body.getBoundingClientRect();
            return performance.now() - started;
          }),
        );
      await page.close();
    }
    if (!hasFilters) return [createRow(`${name}, opened`, median(loaded), 'ms')];
    return [
      createRow(`${name}, opened`, median(loaded), 'ms', { target: { of: 'value', atMost: 1000 } }),
      createRow(`${name}, first search`, median(filtered), 'ms'),
    ];
  } finally {
    await browser.close();
  }
}
