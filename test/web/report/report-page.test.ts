/// <reference lib="dom" />
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatFinding } from '../../../src/evaluation/report/format-verdict.ts';
import { readReportAssets, renderHtmlReport } from '../../../src/evaluation/report/render-html-report.ts';
import type { ReportData } from '../../../src/evaluation/report/report-data.ts';
import { reportDirectory } from '../../../src/package.ts';
import { hostileReport } from '../../evaluation/report/hostile-report.ts';
import { syntheticReport } from '../../evaluation/report/synthetic-report.ts';
import { getTestBrowser } from '../../support/browser.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestPage, type PageAppearance } from '../../support/test-page.ts';

const browser = (await getTestBrowser()) as Browser;
const assets = await readReportAssets(reportDirectory());
const inBrowser = test.skipIf(browser === null);

interface OpenedPage {
  page: Page;
  /** Errors and console messages of the browser. */
  messages: string[];
  /** URLs requested besides the page. */
  requests: string[];
}

interface OpenOptions extends Partial<PageAppearance> {
  render?: typeof renderHtmlReport;
  /** Opens a new browser context instead of reusing one. */
  options?: BrowserContextOptions;
}

async function open(
  report: ReportData,
  { render = renderHtmlReport, options, ...appearance }: OpenOptions = {},
): Promise<OpenedPage> {
  const file = join(await createTemporaryDirectory(), 'report.html');
  await writeFile(file, render(report, assets));
  const { page } = await openTestPage(
    browser,
    { viewport: { width: 1280, height: 900 }, ...appearance },
    options,
  );
  const messages: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  // The page unpacks its data before it renders.
  if (options?.javaScriptEnabled !== false) await page.locator('#settings').waitFor();
  requests.shift();
  return { page, messages, requests };
}

/** Copies every arm under another name. */
function duplicateArms(report: ReportData): ReportData {
  const copy = (name: string) => `${name} copy`;
  return {
    ...report,
    arms: report.arms.flatMap((arm) => [arm, { ...arm, name: copy(arm.name) }]),
    cases: report.cases.map((item) => ({
      ...item,
      results: Object.fromEntries(
        Object.entries(item.results).flatMap(([name, result]) => [
          [name, result],
          [copy(name), result],
        ]),
      ),
    })),
  };
}

const caseCount = async (page: Page) => (await page.locator('#case-count').textContent()) ?? '';
const metricRow = (page: Page, label: string) =>
  page.locator('.metrics tr', { has: page.locator(`th:text-is("${label}")`) });
async function openFirstCase(page: Page): Promise<void> {
  await page.locator('.case > summary').first().click();
  await page.locator('.case[open] .arm').first().waitFor();
}
const ranInjectedCode = (page: Page) => page.evaluate(() => 'hacked' in globalThis);
const measureOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

for (const arms of [['tool'], ['tool', 'always'], ['tool', 'always', 'first', 'never']] as const) {
  inBrowser(`a report of ${arms.length} arms opens without errors and requests nothing`, async () => {
    const { page, messages, requests } = await open(syntheticReport({ cases: 30, arms }));
    expect(await page.locator('h1').textContent()).toContain('tool');
    expect(await page.locator('#metrics .metrics thead th').count()).toBe(arms.length + 2);
    expect(await page.locator('#case-list > li').count()).toBeGreaterThan(0);
    await page.locator('.case > summary').first().click();
    await expect.poll(() => page.locator('.arms-of-case .arm').count()).toBe(arms.length);
    expect(messages).toEqual([]);
    expect(requests).toEqual([]);
  });
}

inBrowser('starts with the finding and the verdict', async () => {
  const report = syntheticReport({ cases: 40 });
  const { page } = await open({ ...report, verdict: ['Take always.', 'It is dearer.'] });
  expect(await page.title()).toBe(`${formatFinding(report)} · citeloop`);
  expect(await page.locator('h1').textContent()).toBe(formatFinding(report));
  const text = (await page.locator('main').textContent()) ?? '';
  expect(text.indexOf('Take always.')).toBeGreaterThan(text.indexOf(formatFinding(report)));
  expect(text.indexOf('It is dearer.')).toBeLessThan(text.indexOf('Metrics by arm'));
});

inBrowser('shows the value of every metric of every arm', async () => {
  const report = syntheticReport({ cases: 40, arms: ['tool', 'always', 'first', 'never'] });
  const { page } = await open(report);
  const heads = await page.locator('.metrics th[scope="row"]').allTextContents();
  const shown = [...report.metrics].sort((a, b) => Number(b.primary) - Number(a.primary));
  const labels = shown.map(({ label }) => label);
  expect(heads.map((head, index) => head.slice(0, labels[index]?.length))).toEqual(labels);
  const cells = await metricRow(page, 'Answered correctly').locator('td .value').allTextContents();
  expect(cells).toEqual(
    report.arms.map(({ metrics }) => {
      const correct = metrics['answer.correct'];
      return correct?.status === 'value' ? correct.value.toFixed(3) : null;
    }),
  );
});

inBrowser('shows why a metric has no data', async () => {
  const { page } = await open(syntheticReport({ cases: 8 }));
  expect(await metricRow(page, 'Cost').textContent()).toContain('no data: needs --prices');
});

inBrowser('shows missing data of one arm in its cell only', async () => {
  const report = syntheticReport({ cases: 8 });
  const [, second] = report.arms;
  if (second !== undefined) second.metrics['answer.correct'] = { status: 'no data', reason: 'none' };
  const { page } = await open(report);
  const cells = await metricRow(page, 'Answered correctly').locator('td').allTextContents();
  expect(cells[0]).toMatch(/0\.\d{3}|1\.000/);
  expect(cells[1]).toBe('no data');
});

inBrowser('renders a report without any data', async () => {
  const report = syntheticReport({ cases: 3 });
  const none = { status: 'no data', reason: 'nothing ran' } as const;
  const { page, messages } = await open({
    ...report,
    arms: report.arms.map((arm) => ({
      ...arm,
      tags: {},
      metrics: Object.fromEntries(report.metrics.map(({ id }) => [id, none])),
    })),
    comparisons: report.comparisons.map((comparison) => ({ ...comparison, metrics: [] })),
    cases: [],
  });
  const shown = await page.locator('main').innerHTML();
  expect(shown).not.toMatch(/NaN|Infinity|undefined/);
  expect(shown).toContain('no data');
  expect(messages).toEqual([]);
});

inBrowser('shows the complete menu at every width', async () => {
  const { page } = await open(syntheticReport({ cases: 12 }));
  for (const width of [360, 800, 1280]) {
    await page.setViewportSize({ width, height: 740 });
    const ends = await page
      .locator('.top nav a')
      .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().right));
    expect(ends.length).toBe(6);
    const nav = await page.locator('.top nav').evaluate((menu) => menu.getBoundingClientRect().right);
    for (const end of ends) expect(end, `at ${width}`).toBeLessThanOrEqual(nav + 1);
    expect(nav, `at ${width}`).toBeLessThanOrEqual(width);
  }
});

inBrowser('a single arm has no comparison', async () => {
  const { page } = await open(syntheticReport({ cases: 8, arms: ['tool'] }));
  expect(await page.locator('#metrics-title').textContent()).toBe('Metrics');
  expect(await page.locator('#differences').count()).toBe(0);
  expect(await page.locator('[name="difference"]').count()).toBe(0);
});

inBrowser('arm names stay in view while the table scrolls', async () => {
  const report = syntheticReport({ cases: 12, arms: ['tool', 'always', 'first', 'never'] });
  const { page } = await open(report);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 700 });
    await page.evaluate(() => scrollTo(0, 0));
    await page.locator('#other-metrics .metrics tbody tr').last().scrollIntoViewIfNeeded();
    const positions = await page.evaluate(() => {
      const top = document.querySelector('.top')?.getBoundingClientRect().bottom ?? 0;
      const heads = Array.from(document.querySelectorAll('#other-metrics .metrics thead th'), (head) =>
        head.getBoundingClientRect(),
      );
      return { top, heads: heads.map(({ top, bottom }) => [top, bottom]), height: innerHeight };
    });
    for (const [top = 0, bottom = 0] of positions.heads) {
      expect(top, `at ${width}`).toBeGreaterThanOrEqual(positions.top - 1);
      expect(bottom, `at ${width}`).toBeLessThan(positions.height);
    }
  }
});

inBrowser('a table of many arms scrolls inside its frame and keeps its headers in view', async () => {
  const report = syntheticReport({ cases: 6, arms: ['tool', 'always', 'first', 'never'] });
  const { page } = await open(duplicateArms(report), { viewport: { width: 390, height: 700 } });
  const frame = page.getByRole('region', { name: 'Descriptive metrics with 95% intervals.' });
  await frame.scrollIntoViewIfNeeded();
  const edges = await frame.evaluate((element) => {
    element.scrollTo(element.scrollWidth, element.scrollHeight);
    const positionsOf = (selector: string) =>
      Array.from(element.querySelectorAll(selector), (head) => head.getBoundingClientRect());
    const { left, top } = element.getBoundingClientRect();
    return {
      scrolled: [element.scrollLeft > 0, element.scrollTop > 0],
      left: positionsOf('th[scope="row"]').map((head) => Math.round(head.left - left)),
      top: positionsOf('thead th').map((head) => Math.round(head.top - top)),
    };
  });
  expect(edges.scrolled).toEqual([true, true]);
  expect(new Set([...edges.left, ...edges.top])).toEqual(new Set([0]));
  expect(await measureOverflow(page)).toBeLessThanOrEqual(0);
});

inBrowser('a comparison starts with the cases on which arms differ', async () => {
  const report = syntheticReport({ cases: 30 });
  const differing = report.cases.filter(
    ({ results }) => results.tool?.metrics['answer.correct'] !== results.always?.metrics['answer.correct'],
  );
  const { page } = await open(report);
  await expect.poll(() => caseCount(page)).toBe(`${differing.length} of 30 cases`);
  await page.getByRole('button', { name: 'Show all' }).click();
  await expect.poll(() => caseCount(page)).toBe('All 30 cases');
});

inBrowser('filters cases by text, tag and outcome', async () => {
  const report = syntheticReport({ cases: 30 });
  const { page } = await open(report);
  await page.getByLabel('Difference', { exact: true }).selectOption('all');
  await page.getByLabel('Tag', { exact: true }).selectOption('near miss');
  const tagged = report.cases.filter(({ tags }) => tags.includes('near miss'));
  await expect.poll(() => caseCount(page)).toBe(`${tagged.length} of 30 cases`);
  await page.getByLabel('Outcome', { exact: true }).selectOption('abstained');
  const abstained = tagged.filter(({ results }) =>
    Object.values(results).some(({ runs }) => runs[0]?.abstained),
  );
  await expect.poll(() => caseCount(page)).toBe(`${abstained.length} of 30 cases`);
  await page.getByLabel('Search', { exact: true }).fill(abstained[0]?.id ?? '');
  await expect.poll(() => caseCount(page)).toBe('1 of 30 cases');
  await expect.poll(() => page.locator('#case-list code').allTextContents()).toEqual([abstained[0]?.id]);
  await page.getByLabel('Search', { exact: true }).fill('no such words');
  await expect.poll(() => caseCount(page)).toBe('0 of 30 cases');
});

inBrowser('a case opens to the answers, checked citations and searches of every arm', async () => {
  const report = syntheticReport({ cases: 12 });
  const item = report.cases.find(
    ({ history, results }) => history.length > 0 && results.tool?.runs[0]?.citations[0],
  );
  const run = item?.results.tool?.runs[0];
  const { page } = await open(report);
  await page.getByLabel('Difference', { exact: true }).selectOption('all');
  await page.getByLabel('Search', { exact: true }).fill(item?.id ?? '');
  expect(await page.locator('.inside').textContent()).toBe('');
  await page.locator('.case > summary').click();
  const arm = page.getByRole('region', { name: 'tool', exact: true });
  expect(await arm.locator('.answer').textContent()).toBe(run?.answer);
  expect(await arm.locator('.citations > li').count()).toBe(run?.citations.length);
  expect(await arm.locator('.citations > li').first().textContent()).toContain(run?.citations[0]?.verdict);
  await arm.locator('.retrievals summary').click();
  await expect.poll(() => arm.locator('.hits > li').count()).toBe(run?.retrievals[0]?.chunks.length);
  expect(await page.locator('.history').textContent()).toContain(item?.history[0]?.content);
});

inBrowser('shows the error of a failed run', async () => {
  const report = syntheticReport({ cases: 4, arms: ['tool'] });
  const run = report.cases[0]?.results.tool?.runs[0];
  Object.assign(run ?? {}, {
    answer: '',
    citations: [],
    sentences: [],
    retrievals: [],
    searches: 0,
    timesMs: { firstToken: null, retrieval: 0, generation: 0, total: 12 },
    tokens: { prompt: 0, completion: 0, total: 0 },
    error: {
      errorType: 'api_error',
      message: 'It broke.',
      userMessage: '',
      retryAfter: null,
      recoverable: true,
    },
  });
  const { page } = await open(report);
  await page.locator('.case > summary').first().click();
  const inside = page.locator('.inside').first();
  await expect.poll(() => inside.textContent()).toContain('Failed with api_error: It broke.');
  expect(await inside.locator('.run-facts div', { hasText: 'First token' }).textContent()).toContain(
    'no data',
  );
  expect(await inside.locator('.run-facts div', { hasText: 'Tokens' }).textContent()).toContain('no data');
});

inBrowser('lists flagged sentences with their reasons below the answer', async () => {
  const report = syntheticReport({ cases: 4, arms: ['tool'] });
  const answer = 'Gnus graze in Rome. Gnus have [1] blue beards. Gnus fly at night.';
  const sentences = [
    { text: 'Gnus graze in Rome.', verdict: 'supported', reason: null },
    { text: 'Gnus have blue beards.', verdict: 'unsupported', reason: '"blue" is not in [1]' },
    { text: 'Gnus fly at night.', verdict: null, reason: null },
  ].map((sentence) => ({ ...sentence, markers: ['1'] }));
  Object.assign(report.cases[0]?.results.tool?.runs[0] ?? {}, { answer, sentences, abstained: false });
  const { page } = await open(report);
  await openFirstCase(page);
  expect(await page.locator('.answer').first().textContent()).toBe(answer);
  expect(await page.locator('.doubted').first().locator('li').allTextContents()).toEqual([
    'Gnus have blue beards. "blue" is not in [1]',
    'Gnus fly at night. no citation',
  ]);
});

inBrowser('pages long lists and focuses the first new case', async () => {
  const { page } = await open(syntheticReport({ cases: 70, arms: ['tool'] }));
  expect(await page.locator('#case-list > li').count()).toBe(50);
  await page.getByRole('button', { name: 'Show 20 more of 20' }).click();
  await expect.poll(() => page.locator('#case-list > li').count()).toBe(70);
  await expect.poll(() => page.locator('#case-list > li:nth-child(51) summary:focus').count()).toBe(1);
  await expect.poll(() => page.locator('#more-cases').isVisible()).toBe(false);
});

inBrowser('the theme follows the system, can be switched, and is stored', async () => {
  const { page } = await open(syntheticReport({ cases: 6 }), { colorScheme: 'dark' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole('button', { name: 'Switch to the light theme' }).click();
  await expect.poll(background).not.toBe(dark);
  const light = await background();
  await page.reload();
  await expect.poll(background).toBe(light);
  await page.getByRole('button', { name: 'Switch to the dark theme' }).click();
  await expect.poll(background).toBe(dark);
});

inBrowser('the keyboard reaches and operates everything', async () => {
  const { page } = await open(syntheticReport({ cases: 6 }));
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the verdict');
  const reached = new Set<string>();
  for (let step = 0; step < 150; step += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const name =
        element.id ||
        element.getAttribute('name') ||
        element.className ||
        element.closest('details')?.className;
      return { name: `${element.tagName} ${name}`, seen: outlineStyle !== 'none' && outlineWidth !== '0px' };
    });
    if (focused === null) break;
    expect(focused).toMatchObject({ seen: true });
    reached.add(focused.name);
  }
  expect([...reached]).toEqual(
    expect.arrayContaining([
      'BUTTON theme',
      'INPUT filter-text',
      'SELECT filter-tag',
      'SELECT filter-difference',
      'SELECT filter-outcome',
      'SUMMARY case',
    ]),
  );
  await page.locator('#case-list summary').first().focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.case[open] .arm').count()).toBe(2);
});

inBrowser('landmarks, headings, tables and plots have names', async () => {
  const { page } = await open(syntheticReport({ cases: 30 }));
  const problems = await page.evaluate(() => {
    const found: string[] = [];
    for (const part of document.querySelectorAll('main > section')) {
      const title = document.getElementById(part.getAttribute('aria-labelledby') ?? '');
      if (!title?.textContent) found.push(`section ${part.id} has no name`);
    }
    for (const table of document.querySelectorAll('table')) {
      if (!table.caption?.textContent) found.push('a table has no caption');
      if (table.querySelector('th:not([scope])') !== null) found.push('a heading cell has no scope');
    }
    for (const plot of document.querySelectorAll('svg')) {
      const isNamed = plot.getAttribute('role') === 'img' && (plot.getAttribute('aria-label') ?? '') !== '';
      if (!isNamed && plot.getAttribute('aria-hidden') !== 'true') found.push('a plot has no text');
    }
    for (const field of document.querySelectorAll<HTMLInputElement>('input, select')) {
      if (field.labels?.length !== 1) found.push(`${field.name} has no label`);
    }
    const ids = Array.from(document.querySelectorAll('[id]'), ({ id }) => id);
    if (new Set(ids).size !== ids.length) found.push('an id occurs twice');
    let level = 0;
    for (const heading of document.querySelectorAll('h1, h2, h3, h4, h5')) {
      const own = Number(heading.tagName.slice(1));
      if (own > level + 1) found.push(`${heading.textContent} skips a level`);
      level = own;
    }
    return found;
  });
  expect(problems).toEqual([]);
});

inBrowser('text has enough contrast in both themes', async () => {
  const { page } = await open(syntheticReport({ cases: 30 }));
  await openFirstCase(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const faint = await page.evaluate(() => {
      const canvas = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
      const channels = (color: string) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
      };
      const luminance = (color: string) => {
        const [r = 0, g = 0, b = 0] = channels(color).map((value) => {
          const share = value / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const backgroundOf = (element: Element | null): string => {
        if (element === null) return 'white';
        const { backgroundColor } = getComputedStyle(element);
        return channels(backgroundColor)[3] === 255 ? backgroundColor : backgroundOf(element.parentElement);
      };
      const found: string[] = [];
      for (const element of document.querySelectorAll('body *')) {
        const hasText = [...element.childNodes].some(
          (node) => node.nodeType === 3 && node.textContent?.trim(),
        );
        if (!hasText || element.getClientRects().length === 0) continue;
        const style = getComputedStyle(element);
        const pair = [element instanceof SVGElement ? style.fill : style.color, backgroundOf(element)].map(
          luminance,
        );
        const [low = 0, high = 0] = pair.sort((a, b) => a - b);
        if ((high + 0.05) / (low + 0.05) < 4.5)
          found.push(`${element.tagName}.${element.getAttribute('class')}`);
      }
      return [...new Set(found)];
    });
    expect(faint, colorScheme).toEqual([]);
  }
});

inBrowser('hostile data never runs or loads anything', async () => {
  const { page, messages, requests } = await open(hostileReport(syntheticReport({ cases: 8 })));
  await page.getByLabel('Difference', { exact: true }).selectOption('all');
  for (const summary of await page.locator('.case > summary').all()) await summary.click();
  await expect.poll(() => page.locator('.inside:empty').count()).toBe(0);
  for (const summary of await page.locator('.retrievals summary').all()) await summary.click();
  expect(await page.locator('.answer').first().textContent()).toContain(
    '<img src=x onerror="window.hacked=1">',
  );
  expect(await page.locator('img, iframe, object, embed, [onerror], [onload], [style]').count()).toBe(0);
  expect(await page.locator('a[href]:not([href^="#"])').count()).toBe(0);
  expect(await ranInjectedCode(page)).toBe(false);
  expect(messages).toEqual([]);
  expect(requests).toEqual([]);
});

inBrowser('the content policy blocks injected scripts', async () => {
  const { page, messages } = await open(syntheticReport({ cases: 4 }));
  await page.evaluate(() => {
    document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="window.hacked=1">');
    const script = document.createElement('script');
    script.textContent = 'window.hacked=1';
    document.body.append(script);
  });
  await expect.poll(() => messages.join('\n')).toContain('Content Security Policy');
  expect(await ranInjectedCode(page)).toBe(false);
});

inBrowser('only http(s) URLs become links, without a referrer', async () => {
  const { page } = await open(syntheticReport({ cases: 6, arms: ['tool'] }));
  await page.locator('.case > summary').first().click();
  const link = page.locator('.inside a').first();
  expect(await link.getAttribute('href')).toMatch(/^https:\/\/docs\.example\.org\//);
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
});

inBrowser('only tables scroll sideways', async () => {
  const report = syntheticReport({ cases: 12, arms: ['tool', 'always', 'first', 'never'] });
  const { page } = await open(report);
  await openFirstCase(page);
  await page.evaluate(() => {
    for (const pair of document.querySelectorAll<HTMLDetailsElement>('details.pair')) pair.open = true;
  });
  for (const width of [1280, 768, 390, 320]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await measureOverflow(page), `at ${width}`).toBeLessThanOrEqual(0);
  }
});

inBrowser('endless names and questions do not widen the page', async () => {
  const report = hostileReport(syntheticReport({ cases: 6 }));
  for (const item of report.cases) item.question = 'w'.repeat(400);
  const { page } = await open(report, { viewport: { width: 390, height: 800 } });
  await openFirstCase(page);
  expect(await measureOverflow(page)).toBeLessThanOrEqual(0);
});

inBrowser('prints without controls, on white', async () => {
  const { page } = await open(syntheticReport({ cases: 12 }), { colorScheme: 'dark' });
  await page.emulateMedia({ media: 'print' });
  for (const selector of ['.top', '.filters', '#more-cases']) {
    expect(await page.locator(selector).first().isVisible()).toBe(false);
  }
  expect(await page.locator('.case[open]').count()).toBe(0);
  expect(await page.locator('.lead').isVisible()).toBe(true);
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
    'rgb(255, 255, 255)',
  );
});

inBrowser('shows the finding and the verdict without JavaScript', async () => {
  const report = syntheticReport({ cases: 6 });
  const { page } = await open(report, { options: { javaScriptEnabled: false } });
  expect(await page.locator('noscript p').isVisible()).toBe(true);
  expect(await page.locator('h1').textContent()).toBe(formatFinding(report));
  expect(await page.locator('.findings li').allTextContents()).toEqual([...report.verdict, ...report.notes]);
});

inBrowser('works when rendered by the bundled, minified program', async () => {
  const { build } = await import('rolldown');
  const { output } = await build({
    input: 'src/evaluation/report/render-html-report.ts',
    platform: 'node',
    write: false,
    output: { format: 'esm', minify: true },
  });
  const bundle = join(await createTemporaryDirectory(), 'render-report.mjs');
  await writeFile(bundle, output[0].code);
  const bundled = (await import(/* @vite-ignore */ pathToFileURL(bundle).href)) as {
    renderReport: typeof renderHtmlReport;
  };
  const { page, messages } = await open(syntheticReport({ cases: 12 }), { render: bundled.renderReport });
  await page.getByRole('button', { name: 'Show all' }).click();
  await expect.poll(() => caseCount(page)).toBe('All 12 cases');
  await page.locator('.case > summary').first().click();
  await expect.poll(() => page.locator('.arms-of-case .arm').count()).toBe(2);
  await page.locator('#theme').click();
  expect(messages).toEqual([]);
});
