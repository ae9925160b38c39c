import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatFinding } from '../../../src/evaluation/report/format-verdict.ts';
import { readReportAssets, renderHtmlReport } from '../../../src/evaluation/report/render-html-report.ts';
import { type ReportData, reportDataSchema } from '../../../src/evaluation/report/report-data.ts';
import { reportDirectory } from '../../../src/package.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { HOSTILE, hostileReport } from './hostile-report.ts';
import { syntheticReport } from './synthetic-report.ts';

const assets = await readReportAssets(reportDirectory());

test('the synthetic report is valid', () => {
  expect(reportDataSchema.safeParse(syntheticReport({ cases: 8 })).error).toBeUndefined();
});

test('the title is the finding', () => {
  const report = syntheticReport({ cases: 40 });
  expect(renderHtmlReport(report, assets)).toContain(`<title>${formatFinding(report)} · citeloop</title>`);
});

test('the content policy allows only the own script and styles, by hash', () => {
  const page = renderHtmlReport(syntheticReport({ cases: 8 }), assets);
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  const inline = [...page.matchAll(/<(?:script|style)>([\s\S]*?)<\/(?:script|style)>/g)];
  expect(inline).toHaveLength(2);
  for (const [, source = ''] of inline) {
    expect(policy).toContain(`'sha256-${createHash('sha256').update(source).digest('base64')}'`);
  }
});

test('the page loads no other file', () => {
  const page = renderHtmlReport(syntheticReport({ cases: 8 }), assets);
  const markup = page.slice(0, page.indexOf('<script type="application/gzip"'));
  expect(markup).not.toMatch(/<(?:link|img|iframe|object|embed|base)\b|@import|url\(/i);
  expect(markup.match(/\b(?:src|href)="(?!#)/g)).toBeNull();
});

test('data never becomes markup', () => {
  const page = renderHtmlReport(hostileReport(syntheticReport({ cases: 8 })), assets);
  expect(page).not.toMatch(/<script>window|<img|<iframe|<svg onload/);
  expect(page.match(/<script\b/g)).toHaveLength(2);
  expect(page).toContain('&lt;img src=x onerror=&quot;window.hacked=1&quot;&gt;');
  expect(HOSTILE).toContain('<script>');
});

test('escapes every character that could start markup or end an attribute', () => {
  const report = syntheticReport({ cases: 1 });
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const page = renderHtmlReport({ ...report, verdict: [text], notes: [] }, assets);
      const note = /<ul class="findings"><li>([\s\S]*)<\/li><\/ul>/.exec(page)?.[1];
      expect(note).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
    }),
    { numRuns: 50 },
  );
});

test('embeds the whole report', () => {
  const report = syntheticReport({ cases: 8 });
  expect(embeddedData(report)).toEqual(report);
});

test('embeds no control characters and no marks that reorder text, not even in tag names', () => {
  const data = embeddedData(hostileReport(syntheticReport({ cases: 8 })));
  expect(JSON.stringify(data)).not.toMatch(/[\u202a-\u202e\u2066-\u2069]|\\u(?:0000|001b|202e)/i);
  expect(JSON.stringify(data)).toContain('near miss');
});

test('renders the same page for the same report', () => {
  expect(renderHtmlReport(syntheticReport({ cases: 8 }), assets)).toBe(
    renderHtmlReport(syntheticReport({ cases: 8 }), assets),
  );
});

test('neither the script nor the styles can end the element that contains them', () => {
  expect(assets.script).not.toMatch(/<\/script|<!--/i);
  expect(assets.style).not.toMatch(/<\/style|<!--/i);
});

test('fails with a configuration error if the page was not built', async () => {
  const missing = join(await createTemporaryDirectory(), 'nowhere');
  await expect(readReportAssets(missing)).rejects.toMatchObject({ kind: 'configuration_error' });
});

function embeddedData(report: ReportData): ReportData {
  const page = renderHtmlReport(report, assets);
  const [, encoded = ''] = /id="report-data">([^<]*)</.exec(page) ?? [];
  return JSON.parse(gunzipSync(Buffer.from(encoded, 'base64')).toString()) as ReportData;
}
