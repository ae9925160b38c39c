import { expect, test } from 'vitest';
import { chunkDocument } from '../../../src/ingest/chunk-document.ts';
import { blocksOf, parseSource } from './parse-source.ts';

const fenced = (info: string, ...lines: string[]) => [`\`\`\`${info}`, ...lines, '```'].join('\n');

async function codeOf(mediaType: 'markdown' | 'mdx', source: string): Promise<string[]> {
  const [block] = blocksOf(await parseSource(mediaType, source)).filter(([kind]) => kind === 'code');
  return (block?.[2] ?? '').split('\n').slice(1, -1);
}

test.each(['markdown', 'mdx'] as const)(
  'removes Twoslash and Shiki annotations from code in %s',
  async (mediaType) => {
    const source = fenced(
      'ts twoslash',
      '// @noErrors',
      "import { Hono } from 'hono'",
      '// ---cut---',
      'const app = new Hono() // [!code highlight:2]',
      '//    ^?',
      '  // ---cut-start---',
      'app.use(logger) /* [!code focus] */ ',
      '// [!code word:app:1]',
      '',
      '// the end',
    );
    expect(await codeOf(mediaType, source)).toEqual([
      "import { Hono } from 'hono'",
      'const app = new Hono()',
      'app.use(logger)',
      '',
      '// the end',
    ]);
  },
);

test.each([
  ['yaml', 'port: 80 # [!code hl]', 'port: 80'],
  ['html', '<p>hi</p> <!-- [!code warning] -->', '<p>hi</p>'],
  ['sql', 'SELECT 1 -- [!code error]', 'SELECT 1'],
  ['tsx', '<App /> {/* [!code focus] [!code hl] */}', '<App />'],
])('recognizes comments of %s', async (language, line, code) => {
  expect(await codeOf('markdown', fenced(language, line))).toEqual([code]);
});

test('keeps only the new lines of a diff, and removed lines without new ones', async () => {
  const old = 'port: 3000 // [!code --]';
  expect(await codeOf('markdown', fenced('ts', old, 'port: 8080 // [!code ++]'))).toEqual(['port: 8080']);
  expect(await codeOf('markdown', fenced('ts', old))).toEqual(['port: 3000']);
});

test.each(['// @ts-check', '//   ^? is a question', 'a // see [!code ++] there', "say('// [!code ++]')"])(
  'keeps %s as code',
  async (line) => {
    expect(await codeOf('markdown', fenced('ts', line))).toEqual([line]);
  },
);

test('keeps the line numbers of code without annotations', async () => {
  const long = Array.from({ length: 40 }, (_, at) => `call(${at}) // a line of some length that takes room`);
  const document = await parseSource(
    'markdown',
    `Intro.\n\n${fenced('ts', 'a()', '// ---cut---', ...long)}\n\nEnd.`,
  );
  expect(document.blocks.map(({ location }) => [location?.from, location?.to])).toEqual([
    [1, 1],
    [3, 46],
    [48, 48],
  ]);
  const chunks = chunkDocument(document, {
    title: 'T',
    maxTokens: 120,
    countTokens: (text) => text.length / 4,
  });
  expect(chunks.length).toBeGreaterThan(3);
  for (const { text, location } of chunks.filter((chunk) => chunk.text.includes('call(')))
    for (const [, at] of text.matchAll(/call\((\d+)\)/g)) {
      const line = 6 + Number(at);
      expect(location?.from).toBeLessThanOrEqual(line);
      expect(location?.to).toBeGreaterThanOrEqual(line);
    }
});
