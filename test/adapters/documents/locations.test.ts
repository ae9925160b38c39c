import { expect, test } from 'vitest';
import type { MediaType } from '../../../src/domain/document.ts';
import { makePdf } from './make-pdf.ts';
import { parseSource } from './parse-source.ts';

/** Each block that tells its place as `first word: from-to`. */
async function places(mediaType: MediaType, source: string | Uint8Array): Promise<string[]> {
  const { text, blocks } = await parseSource(mediaType, source);
  return blocks.map(({ start, end, location }) => {
    const word = /[\p{L}\d]+/u.exec(text.slice(start, end))?.[0];
    return `${word}: ${location?.from}-${location?.to}`;
  });
}

const markdown = `---
title: T
---

# Top { #top }

One line,
and two.

- first
- second
  goes on

\`\`\`js
code
\`\`\`

<div>
<p>html</p>
</div>

> [!NOTE]
> quoted

| a | b |
| - | - |
| c | d |
`;

const expected = ['Top: 5-5', 'One: 7-8', 'first: 10-10', 'second: 11-12', 'js: 14-16'];

test('Markdown blocks have their lines, also after front matter', async () => {
  expect(await places('markdown', markdown)).toEqual([...expected, 'html: 18-20', 'Note: 22-23', 'a: 25-27']);
});

test('MDX blocks have their lines', async () => {
  const mdx = markdown.replace(/> \[!NOTE\]\n> /, '\n');
  expect((await places('mdx', mdx)).slice(0, 5)).toEqual(expected);
});

test('lines are correct in a long document that is split', async () => {
  const section = (index: number) => `## Section${index}\n\nword${index} [link][t]\n\n`;
  const source = `${Array.from({ length: 2_000 }, (_, index) => section(index)).join('')}[t]: https://x.y\n`;
  const lines = source.split('\n');
  const { text, blocks } = await parseSource('markdown', source);
  const wrong = blocks.filter(({ start, end, location }) => {
    const word = /\w+/.exec(text.slice(start, end))?.[0] ?? '';
    return !lines[(location?.from ?? 0) - 1]?.includes(word);
  });
  expect(blocks).toHaveLength(4_000);
  expect(wrong).toEqual([]);
});

test('reStructuredText and plain-text blocks have their lines', async () => {
  const rst = ':author: A\n\nTitle\n=====\n\nOne line,\nand two.\n\n.. code-block:: js\n\n   code\n\nLast\n';
  expect(await places('rst', rst)).toEqual(['Title: 3-4', 'One: 6-7', 'js: 9-11', 'Last: 13-13']);
  expect(await places('text', '\n\none\ntwo\n \n\nthree\n')).toEqual(['one: 3-4', 'three: 7-8']);
});

test('PDF blocks have their page', async () => {
  const { blocks } = await parseSource(
    'pdf',
    makePdf([[[12, 72, 700, 'first page']], [[12, 72, 700, 'second page']]]),
  );
  expect(blocks.map(({ location }) => location)).toEqual([
    { unit: 'page', from: 1, to: 1 },
    { unit: 'page', from: 2, to: 2 },
  ]);
});

test.each([
  ['# CORS { #cors }', 'CORS'],
  ['# CORS {#cors}', 'CORS'],
  ['# CORS {: .class }', 'CORS'],
  ['# CORS { .class #id key="a value" }', 'CORS'],
  ['# CORS {#cors .x}', 'CORS'],
  ['CORS { #cors }\n====', 'CORS'],
  ['# Use {name}', 'Use {name}'],
  ['# Set {a: 1}', 'Set {a: 1}'],
  ['# f() { }', 'f() { }'],
])('the title of %j is %s', async (source, title) => {
  expect((await parseSource('markdown', source)).title).toBe(title);
  if (source.startsWith('# C')) expect((await parseSource('mdx', source)).title).toBe(title);
});

test('removes attributes below a block', async () => {
  expect((await parseSource('markdown', '# A\n{: .no_toc }\n\nText.\n{: .note }\n')).text).toBe('A\n\nText.');
});
