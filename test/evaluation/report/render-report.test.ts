import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { renderReport } from '../../../src/evaluation/report/render-report.ts';
import { reportDataSchema } from '../../../src/evaluation/report/report-data.ts';
import { HOSTILE, hostileReport } from './hostile-report.ts';
import { syntheticReport } from './synthetic-report.ts';

test('the made-up report that the tests use is one that the program accepts', () => {
  expect(reportDataSchema.safeParse(syntheticReport({ cases: 8 })).error).toBeUndefined();
});

test('the verdict comes before all else', () => {
  const report = syntheticReport({ cases: 40 });
  const page = renderReport({ ...report, verdict: ['Take always.', 'It is dearer.'] });
  expect(page.indexOf('Take always.')).toBeGreaterThan(page.indexOf('<h1'));
  expect(page.indexOf('It is dearer.')).toBeLessThan(page.indexOf('id="arms"'));
});

test('a page holds every metric of every arm with its value', () => {
  const report = syntheticReport({ cases: 40, arms: ['tool', 'always', 'first', 'never'] });
  const page = renderReport(report);
  for (const { label } of report.metrics) expect(page).toContain(`<th scope="row">${label}`);
  for (const { metrics } of report.arms) {
    const correct = metrics['answer.correct'];
    expect(correct?.status === 'value' && page.includes(correct.value.toFixed(3))).toBe(true);
  }
});

test('a metric without data says so and why, and is no nought', () => {
  const page = renderReport(syntheticReport({ cases: 8 }));
  const row = page.slice(page.indexOf('<th scope="row">Cost '));
  expect(row.slice(0, row.indexOf('</tr>'))).toContain('no data: no price file names the model');
});

test('where one arm alone lacks data, only its cell says so', () => {
  const report = syntheticReport({ cases: 8 });
  const [, second] = report.arms;
  if (second !== undefined) second.metrics['answer.correct'] = { status: 'no data', reason: 'none' };
  const page = renderReport(report);
  const row = page.slice(page.indexOf('<th scope="row">Answered correctly</th>'));
  const cells = row.slice(0, row.indexOf('</tr>'));
  expect(cells.match(/no data/g)).toHaveLength(1);
  expect(cells).toMatch(/class="value">0\.\d{3}|class="value">1\.000/);
});

test('a report whose every metric lacks data is still a page, without NaN or infinity', () => {
  const report = syntheticReport({ cases: 3 });
  const none = { status: 'no data', reason: 'nothing ran' } as const;
  const page = renderReport({
    ...report,
    arms: report.arms.map((arm) => ({
      ...arm,
      tags: {},
      metrics: Object.fromEntries(report.metrics.map(({ id }) => [id, none])),
    })),
    comparisons: report.comparisons.map((comparison) => ({ ...comparison, metrics: [] })),
    calibrations: [],
    cases: [],
  });
  const shown = page.slice(page.indexOf('<main>'), page.indexOf('</main>'));
  expect(shown).not.toMatch(/NaN|Infinity|undefined/);
  expect(shown).toContain('no data');
});

test('a single arm has no columns of comparison', () => {
  const page = renderReport(syntheticReport({ cases: 8, arms: ['tool'] }));
  expect(page).toContain('What was measured');
  expect(page).not.toContain('id="differences"');
  expect(page).not.toContain('name="differ"');
});

test('the policy of the page allows its own styles and scripts by hash and nothing else', () => {
  const page = renderReport(syntheticReport({ cases: 8 }));
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  const inline = [...page.matchAll(/<(?:script|style)>([\s\S]*?)<\/(?:script|style)>/g)];
  expect(inline).toHaveLength(3);
  for (const [, source = ''] of inline) {
    expect(policy).toContain(`'sha256-${createHash('sha256').update(source).digest('base64')}'`);
  }
});

test('the page asks for no other file', () => {
  const page = renderReport(syntheticReport({ cases: 8 }));
  const markup = page.slice(0, page.indexOf('<script type="application/json"'));
  expect(markup).not.toMatch(/<(?:link|img|iframe|object|embed|base)\b|@import|url\(/i);
  expect(markup.match(/\b(?:src|href)="(?!#)/g)).toBeNull();
});

test('nothing in the data becomes markup, wherever it stands', () => {
  const page = renderReport(hostileReport(syntheticReport({ cases: 8 })));
  expect(page).not.toContain('<script>window');
  expect(page).not.toContain('<img');
  expect(page).not.toContain('<iframe');
  expect(page).not.toMatch(/<svg onload/);
  expect(page.match(/<script\b/g)).toHaveLength(3);
  expect(page).toContain('&lt;img src=x onerror=&quot;window.hacked=1&quot;&gt;');
  expect(HOSTILE).toContain('<script>');
});

test('the same report gives the same page', () => {
  expect(renderReport(syntheticReport({ cases: 8 }))).toBe(renderReport(syntheticReport({ cases: 8 })));
});
