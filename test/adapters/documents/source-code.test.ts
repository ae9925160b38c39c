import { expect, test } from 'vitest';
import { createDocumentParser } from '../../../src/adapters/documents/parse-document.ts';
import { expectSoundBlocks } from './parse-source.ts';

const parse = createDocumentParser();

async function parseFile(name: string, source: string) {
  const document = await parse({ uri: `file:///src/${name}`, mediaType: 'code', bytes: Buffer.from(source) });
  expectSoundBlocks(document);
  return document;
}

/** Each name with the first and the last line of the code below it. */
function outline({ text, blocks }: Awaited<ReturnType<typeof parseFile>>): [string, number, number][] {
  let name = '';
  return blocks.flatMap(({ kind, start, end, location }) => {
    if (kind === 'heading') name = text.slice(start, end);
    return kind === 'heading' ? [] : [[name, location?.from ?? 0, location?.to ?? 0]];
  });
}

const long = (comment: string) => `${comment} ${'words '.repeat(200)}\n`;

test('splits Python by function and class with decorators and comments, other code first', async () => {
  const source = `"""Tides."""
import math

# The height of the water.
@cache
def height(t):
    return math.sin(t)

LIMIT = 3

class Gauge(Base):
    """Reads a gauge."""
    ${long('#')}
    size = 1

    def read(self):
        """Reads it once."""
        return height(0)

    async def close(self): ...
`;
  const document = await parseFile('tides.py', source);
  expect(document.title).toBe('tides.py');
  expect(outline(document)).toEqual([
    ['', 1, 2],
    ['', 9, 9],
    ['height', 4, 7],
    ['Gauge', 11, 15],
    ['Gauge.read', 17, 19],
    ['Gauge.close', 21, 21],
  ]);
  expect(document.text).toContain(
    '```python\n# The height of the water.\n@cache\ndef height(t):\n    return',
  );
  expect(document.text).toContain('```python\ndef read(self):\n    """Reads it once."""\n');
});

const names = (document: Awaited<ReturnType<typeof parseFile>>) => [
  ...new Set(outline(document).map(([name]) => name)),
];

test.each([
  [
    'a.ts',
    `import x;\n/** Doc. */\nexport function f() {}\nexport const g = async () => {\n};\nconst N = 1;\nexport default class C {\n${long('//')}  m(): void {}\n}\ninterface I { a: string }\n`,
    ['', 'f', 'g', 'C', 'C.m', 'I'],
  ],
  ['a.tsx', 'export const View = () => <p>hi</p>;\nfunction g() {}\n', ['View', 'g']],
  ['a.mjs', 'function f() {}\nclass A {}\n', ['f', 'A']],
  [
    'a.go',
    'package a\n\n// Doc.\nfunc F() {}\n\nfunc (s *Set[T]) Add(x int) {}\n\ntype Set struct { a int }\n',
    ['', 'F', 'Set.Add', 'Set'],
  ],
  [
    'a.rs',
    `/// Doc.\n#[inline]\npub fn f() {}\nimpl Display for Set {\n${long('//')}  fn add(&self) {}\n}\n`,
    ['f', 'Set', 'Set.add'],
  ],
  [
    'A.java',
    `package a;\n/** Doc. */\npublic class A {\n${long('//')}  int x;\n  A() {}\n  @Override void run() {}\n}\n`,
    ['', 'A', 'A.A', 'A.run'],
  ],
  ['a.cs', `namespace N {\n${long('//')}  class A { void Run() {} }\n}\n`, ['N', 'N.A', 'N.A.Run']],
  [
    'a.h',
    '#ifndef A_H\n#define A_H\nint *f(int a) { return 0; }\nstruct S { int a; };\n#endif\n',
    ['', 'f', 'S'],
  ],
  [
    'a.cpp',
    `namespace n {\n${long('//')}template <class T> T f(T a) { return a; }\nvoid C::g() {}\n}\n`,
    ['n', 'n.f', 'n.C::g'],
  ],
  ['a.rb', `module M\n${long('#')}  class A\n    def run; end\n  end\nend\n`, ['M', 'M.A']],
  [
    'a.php',
    `<?php\nfunction f() {}\nclass A {\n${long('//')}  function run() {}\n}\n`,
    ['', 'f', 'A', 'A.run'],
  ],
  ['a.sh', '#!/bin/sh\nset -e\nstart() {\n  echo\n}\n', ['', 'start']],
  ['a.ps1', 'function Get-It { 1 }\n', ['Get-It']],
])('splits %s by its definitions', async (name, source, expected) => {
  expect(names(await parseFile(name, source))).toEqual(expected);
});

test('keeps all lines, whatever the syntax', async () => {
  const source = 'def a(:\n  word1\nclass (\nword2\n}}}\ndef b():\n    word3\n# word4\n';
  const { text } = await parseFile('a.py', source);
  expect(text.match(/word\d/g)?.sort()).toEqual(['word1', 'word2', 'word3', 'word4']);
});

test('parses or rejects thousands of nested blocks, and reads nothing of minified code', async () => {
  const deep = await parseFile(
    'a.js',
    `${'{'.repeat(20_000)}word${'}'.repeat(20_000)}`.replace(/.{80}/g, '$&\n'),
  );
  expect(deep.text).toContain('word');
  expect(await parseFile('a.js', 'a();'.repeat(4_000))).toMatchObject({ text: '', blocks: [] });
});
