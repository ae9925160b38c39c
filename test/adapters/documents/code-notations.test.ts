import { expect, test } from 'vitest';
import { chunkDocument } from '../../../src/ingest/chunk-document.ts';
import { blocksOf, parseSource } from './parse-source.ts';

const fenced = (info: string, ...lines: string[]) => [`\`\`\`${info}`, ...lines, '```'].join('\n');

async function codeOf(mediaType: 'markdown' | 'mdx', source: string): Promise<string[]> {
  const [block] = blocksOf(await parseSource(mediaType, source)).filter(([kind]) => kind === 'code');
  return (block?.[2] ?? '').split('\n').slice(1, -1);
}

test.each(['markdown', 'mdx'] as const)(
  'what is written for Twoslash and Shiki in the code of %s is left out',
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
])('the comments of %s are known', async (language, line, code) => {
  expect(await codeOf('markdown', fenced(language, line))).toEqual([code]);
});

test('of lines that take the place of others only the new ones stay; lines that merely go are shown', async () => {
  const old = 'port: 3000 // [!code --]';
  expect(await codeOf('markdown', fenced('ts', old, 'port: 8080 // [!code ++]'))).toEqual(['port: 8080']);
  expect(await codeOf('markdown', fenced('ts', old))).toEqual(['port: 3000']);
});

test.each(['// @ts-check', '//   ^? is a question', 'a // see [!code ++] there', "say('// [!code ++]')"])(
  '%s is code as any other',
  async (line) => {
    expect(await codeOf('markdown', fenced('ts', line))).toEqual([line]);
  },
);

test('the code keeps its lines in the source, whole and where it is cut into pieces', async () => {
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
