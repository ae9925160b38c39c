import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BlockKind, DocumentBlock, ParsedDocument } from '../../src/domain/document.ts';
import { chunkDocument } from '../../src/ingest/chunk-document.ts';

/** Counts words, which is additive like the real tokenizer. */
const countTokens = (text: string) => text.match(/\S+/g)?.length ?? 0;

interface Piece {
  kind: BlockKind;
  depth?: number;
  text: string;
}

function documentOf(pieces: readonly Piece[]): ParsedDocument {
  let text = '';
  const blocks: DocumentBlock[] = pieces.map((piece) => {
    if (text !== '') text += '\n\n';
    const start = text.length;
    text += piece.text;
    return { kind: piece.kind, depth: piece.depth ?? 0, start, end: text.length };
  });
  return { title: 'Title', metadata: {}, text, blocks };
}

const chunk = (pieces: readonly Piece[], maxTokens = 40) =>
  chunkDocument(documentOf(pieces), { title: 'Title', maxTokens, countTokens });

const words = (count: number, word = 'word') =>
  Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ');
const heading = (text: string, depth = 2): Piece => ({ kind: 'heading', depth, text });
const paragraph = (text: string): Piece => ({ kind: 'paragraph', text });

test('a section becomes one chunk with the headings above it', async () => {
  const [only, ...rest] = await chunk([heading('Top', 1), heading('Below'), paragraph(words(20))]);
  expect(rest).toEqual([]);
  expect(only).toMatchObject({ text: words(20), headings: ['Top', 'Below'], chunkIndex: 0 });
  expect(only?.embedded).toBe(`Title > Top > Below\n${words(20)}`);
});

test('leaves out a first heading that repeats the title', async () => {
  const [only] = await chunk([heading('Title', 1), paragraph(words(20))]);
  expect(only?.headings).toEqual([]);
  expect(only?.embedded.startsWith('Title\n')).toBe(true);
});

test('does not split a code block that fits into a new chunk', async () => {
  const code = `\`\`\`js\n${words(25, 'code')}\n\`\`\``;
  const chunks = await chunk([paragraph(words(20)), { kind: 'code', text: code }]);
  expect(chunks.map(({ text }) => text)).toEqual([words(20), code]);
});

test('splits a long code block between lines and keeps the indentation', async () => {
  const lines = Array.from({ length: 12 }, (_, i) => `    line${i} a b c d`);
  const chunks = await chunk([{ kind: 'code', text: lines.join('\n') }]);
  expect(chunks.length).toBeGreaterThan(1);
  expect(chunks.flatMap(({ text }) => text.split('\n'))).toEqual(lines);
});

test('splits a long table between rows, each piece with the header and its location', async () => {
  const header = '| Part | Price |\n| --- | --- |';
  const rows = Array.from({ length: 20 }, (_, i) => `| part${i} | price${i} |`);
  const document = documentOf([{ kind: 'table', text: [header, ...rows].join('\n') }]);
  const placed = document.blocks.map((block) => ({
    ...block,
    location: { unit: 'line' as const, from: 11, to: 32 },
  }));
  const chunks = await chunkDocument(
    { ...document, blocks: placed },
    { title: 'Title', maxTokens: 60, countTokens },
  );
  expect(chunks.length).toBeGreaterThan(1);
  for (const { text, tokenCount } of chunks) {
    expect(text.startsWith(`${header}\n| part`)).toBe(true);
    expect(tokenCount).toBeLessThanOrEqual(60);
  }
  expect(chunks.flatMap(({ text }) => text.split('\n').slice(2))).toEqual(rows);
  const places = chunks.map(({ location }) => [location?.from, location?.to]);
  expect(places[0]?.[0]).toBe(13);
  expect(places.at(-1)?.[1]).toBe(32);
  for (const [index, [from]] of places.slice(1).entries()) expect(from).toBe((places[index]?.[1] ?? 0) + 1);
});

test('splits long fenced code at a blank line, each piece with its fence', async () => {
  const part = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${name}${i} a b`).join('\n');
  const code = `\`\`\`js\n${part('first', 7)}\n\n${part('second', 6)}\n\`\`\``;
  expect((await chunk([{ kind: 'code', text: code }])).map(({ text }) => text)).toEqual([
    `\`\`\`js\n${part('first', 7)}\n\`\`\``,
    `\`\`\`js\n${part('second', 6)}\n\`\`\``,
  ]);
});

test('a chunk has the location of all its blocks', async () => {
  const document = documentOf([
    heading('H'),
    paragraph(words(10)),
    paragraph(words(10)),
    paragraph(words(30)),
  ]);
  const blocks = document.blocks.map((block, index) => ({
    ...block,
    location: { unit: 'page' as const, from: index + 1, to: index + 1 },
  }));
  const chunks = await chunkDocument({ ...document, blocks }, { title: 'Title', maxTokens: 40, countTokens });
  expect(chunks.map(({ location }) => location)).toEqual([
    { unit: 'page', from: 2, to: 3 },
    { unit: 'page', from: 4, to: 4 },
  ]);
});

test('splits a long paragraph between sentences', async () => {
  const sentences = Array.from({ length: 6 }, (_, i) => `This is ${words(10, `s${i}x`)}.`);
  const chunks = await chunk([paragraph(sentences.join(' '))]);
  for (const { text } of chunks) expect(text).toMatch(/^This is .*\.$/);
  expect(chunks.length).toBeGreaterThan(1);
});

test('repeats the last sentence of the previous chunk of a section if it is short', async () => {
  const chunks = await chunk([paragraph(`${words(20)}. Short end.`), paragraph(words(25, 'next'))]);
  expect(chunks[1]?.text).toBe(`Short end.\n\n${words(25, 'next')}`);
});

test('merges small sections under their common headings and keeps their own in the text', async () => {
  const chunks = await chunk([
    heading('Shared', 1),
    heading('One'),
    paragraph('first body'),
    heading('Two'),
    paragraph('second body'),
  ]);
  expect(chunks).toHaveLength(1);
  expect(chunks[0]).toMatchObject({ headings: ['Shared'], text: 'One\n\nfirst body\n\nTwo\n\nsecond body' });
});

test('merging does not include a heading whose text is in an earlier chunk', async () => {
  const chunks = await chunk([
    heading('A', 1),
    paragraph(words(34)),
    heading('B'),
    paragraph('small b'),
    heading('Z', 1),
    paragraph('small z'),
  ]);
  expect(chunks.map(({ text }) => text)).toEqual([words(34), 'small b', 'small z']);
});

test('keeps a heading with nothing below it', async () => {
  const chunks = await chunk([heading('Empty'), heading('Full'), paragraph(words(5)), heading('Last')]);
  expect(chunks.map(({ text }) => text).join('\n')).toContain('Empty');
  expect(chunks.map(({ text }) => text).join('\n')).toContain('Last');
});

test('returns no chunks for a document without text', async () => {
  expect(await chunk([])).toEqual([]);
});

test('gives the same hash only to equal content under equal headings', async () => {
  const [a] = await chunk([heading('H'), paragraph(words(12))]);
  const [b] = await chunk([heading('H'), paragraph(words(12))]);
  const [c] = await chunk([heading('Other'), paragraph(words(12))]);
  expect(a?.contentHash).toBe(b?.contentHash);
  expect(a?.contentHash).not.toBe(c?.contentHash);
});

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((list) => `${list.join(' ')}.`);
const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.record({
    kind: fc.constant('heading' as const),
    depth: fc.integer({ min: 1, max: 4 }),
    text: fc.array(word, { minLength: 1, maxLength: 12 }).map((list) => list.join(' ')),
  }),
  fc.record({
    kind: fc.constantFrom('paragraph' as const, 'item' as const),
    text: fc.array(sentence, { minLength: 1, maxLength: 8 }).map((list) => list.join(' ')),
  }),
  fc.record({
    kind: fc.constantFrom('code' as const, 'table' as const),
    text: fc.array(sentence, { minLength: 1, maxLength: 12 }).map((list) => list.join('\n')),
  }),
);
const pieces = fc.array(piece, { maxLength: 20 });

test('no chunk exceeds the limit, and all offsets are correct', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: 12, max: 80 }), async (list, maxTokens) => {
      const document = documentOf(list);
      const chunks = await chunkDocument(document, { title: 'Title', maxTokens, countTokens });
      chunks.forEach((made, index) => {
        expect(made.tokenCount).toBe(countTokens(made.embedded) + 2);
        expect(made.tokenCount).toBeLessThanOrEqual(maxTokens);
        expect(made.text).toBe(document.text.slice(made.start, made.end));
        expect(made.text.trim()).not.toBe('');
        expect(made.embedded.endsWith(`\n${made.text}`)).toBe(true);
        expect(made.chunkIndex).toBe(index);
      });
    }),
  );
});

test('loses nothing: every block is in a chunk, every heading in a text or above it', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: 12, max: 80 }), async (list, maxTokens) => {
      const document = documentOf(list);
      const chunks = await chunkDocument(document, { title: 'Title', maxTokens, countTokens });
      const covered = new Uint8Array(document.text.length);
      for (const { start, end } of chunks) covered.fill(1, start, end);
      for (const { kind, start, end } of document.blocks) {
        const text = document.text.slice(start, end);
        const above = kind === 'heading' && chunks.some(({ headings }) => headings.includes(text));
        const missing = [...text].some((character, i) => character.trim() !== '' && covered[start + i] === 0);
        expect(above || !missing, text).toBe(true);
      }
    }),
  );
});

test('chunks are in reading order and overlap by at most a sentence', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: 12, max: 80 }), async (list, maxTokens) => {
      const document = documentOf(list);
      const chunks = await chunkDocument(document, { title: 'Title', maxTokens, countTokens });
      chunks.slice(1).forEach((next, i) => {
        const before = chunks[i];
        if (before === undefined) return;
        expect(next.start).toBeGreaterThan(before.start);
        expect(next.end).toBeGreaterThan(before.end);
        const overlap = document.text.slice(next.start, Math.max(next.start, before.end));
        expect(countTokens(overlap)).toBeLessThanOrEqual(maxTokens / 8);
      });
    }),
  );
});

test('splits an endless word between code points', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('a', 'é', '🤖'), minLength: 1, maxLength: 300 }),
      async (text) => {
        const document = documentOf([paragraph(text)]);
        const chunks = await chunkDocument(document, {
          title: '',
          maxTokens: 12,
          countTokens: (t) => Array.from(t.trim()).length,
        });
        expect(chunks.map((made) => made.text).join('')).toBe(text);
        for (const { text: part } of chunks) expect(part.isWellFormed()).toBe(true);
      },
    ),
  );
});
