import { createHash } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  escapeHtml,
  html,
  readReportAssets,
  renderReport,
} from '../../../src/evaluation/report/render-report.ts';
import { reportDataSchema } from '../../../src/evaluation/report/report-data.ts';
import { findingOf } from '../../../src/evaluation/report/verdict.ts';
import { reportDirectory } from '../../../src/package.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { HOSTILE, hostileReport } from './hostile-report.ts';
import { syntheticReport } from './synthetic-report.ts';

const assets = await readReportAssets(reportDirectory());

test('the made-up report that the tests use is one that the program accepts', () => {
  expect(reportDataSchema.safeParse(syntheticReport({ cases: 8 })).error).toBeUndefined();
});

test('the title says what was found', () => {
  const report = syntheticReport({ cases: 40 });
  expect(renderReport(report, assets)).toContain(`<title>${findingOf(report)} · citeloop</title>`);
});

test('the policy of the page allows its own styles and scripts by hash and nothing else', () => {
  const page = renderReport(syntheticReport({ cases: 8 }), assets);
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  const inline = [...page.matchAll(/<(?:script|style)>([\s\S]*?)<\/(?:script|style)>/g)];
  expect(inline).toHaveLength(2);
  for (const [, source = ''] of inline) {
    expect(policy).toContain(`'sha256-${createHash('sha256').update(source).digest('base64')}'`);
  }
});

test('the page asks for no other file', () => {
  const page = renderReport(syntheticReport({ cases: 8 }), assets);
  const markup = page.slice(0, page.indexOf('<script type="application/json"'));
  expect(markup).not.toMatch(/<(?:link|img|iframe|object|embed|base)\b|@import|url\(/i);
  expect(markup.match(/\b(?:src|href)="(?!#)/g)).toBeNull();
});

test('nothing in the data becomes markup, wherever it stands', () => {
  const page = renderReport(hostileReport(syntheticReport({ cases: 8 })), assets);
  expect(page).not.toContain('<script>window');
  expect(page).not.toContain('<img');
  expect(page).not.toContain('<iframe');
  expect(page).not.toMatch(/<svg onload/);
  expect(page.match(/<script\b/g)).toHaveLength(2);
  expect(page).toContain('&lt;img src=x onerror=&quot;window.hacked=1&quot;&gt;');
  expect(HOSTILE).toContain('<script>');
});

test('the same report gives the same page', () => {
  expect(renderReport(syntheticReport({ cases: 8 }), assets)).toBe(
    renderReport(syntheticReport({ cases: 8 }), assets),
  );
});

test('neither the script nor the styles can end the element that holds them', () => {
  expect(assets.script).not.toMatch(/<\/script|<!--/i);
  expect(assets.style).not.toMatch(/<\/style|<!--/i);
});

test('where the page was not built, that is said', async () => {
  await expect(readReportAssets(join(await temporaryDirectory(), 'nowhere'))).rejects.toThrow(
    'The page of the report is not part of this installation.',
  );
});

test('text in a template is escaped, in attributes too', () => {
  const hostile = `"><img src=x onerror='alert(1)'>&`;
  expect(html`<p title="${hostile}">${hostile}</p>`.markup).toBe(
    '<p title="&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;">&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;</p>',
  );
});

test('markup made by the template itself is kept, and lists of it are joined', () => {
  const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`);
  expect(html`<ul>${items}</ul>`.markup).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>');
});

test('what is absent leaves no trace, a nought does', () => {
  expect(html`[${null}${undefined}${false}${0}]`.markup).toBe('[0]');
});

test('marks that reorder text and control characters do not reach the page', () => {
  expect(escapeHtml('abc\u202edcba\u0000\u001b[31m!')).toBe('abcdcba!');
});

test('no text of any kind leaves a character that could begin markup or end an attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(escapeHtml(text)).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
    }),
  );
});
