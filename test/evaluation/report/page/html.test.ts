import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeHtml, html } from '../../../../src/evaluation/report/page/html.ts';

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
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(escapeHtml(text)).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
    }),
  );
});
