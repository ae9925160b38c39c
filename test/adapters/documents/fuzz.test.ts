import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { expect, onTestFinished, test } from 'vitest';
import { createParserProcess } from '../../../src/app/parser-process.ts';
import type { MediaType, ParsedDocument } from '../../../src/domain/document.ts';
import {
  makeDocx,
  makeEpub,
  makeOdt,
  makePptx,
  makeXlsx,
  slideShape,
  wordParagraph,
  wordTable,
} from './make-office.ts';
import { makePdf } from './make-pdf.ts';
import { expectSoundBlocks } from './parse-source.ts';

/** `npm run fuzz` sets more. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 5);

const MARKDOWN = `---\ntitle: Foxes\n---\n\n# Foxes\n\nA *fox* [runs][1].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n  - two\n\n> quote\n\n:::note\ntext\n:::\n\n\`\`\`js\nlet a;\n\`\`\`\n\n<div><b>x</b></div>\n\n[1]: https://x.y\n`;
const HTML = `<!doctype html><title>Foxes</title><main><h1>Foxes</h1><p>A <a href="x">fox</a> <b>runs</b>.<table><tr><th>a<th>b<tr><td>1<td>2</table><ul><li>one<ul><li>two</ul></ul><pre class="language-js">let a;</pre><dl><dt>t<dd>d</dl></main>`;
const CELL = (type: string) => ({ cell_type: type, source: ['# Foxes\n', 'run'], metadata: {}, outputs: [] });

/** A small document of every format. */
const seeds: [MediaType, string | Uint8Array, file?: string][] = [
  ['markdown', MARKDOWN],
  ['markdown', readFileSync('README.md')],
  [
    'mdx',
    `import X from 'y'\n\n# Foxes\n\n<X a={1}>run {2 + 3}</X>\n\n${MARKDOWN.slice(MARKDOWN.indexOf('|'), 150)}`,
  ],
  [
    'rst',
    'Foxes\n=====\n\nA *fox* :ref:`runs <x>`.\n\n.. note:: text\n\n   more\n\n+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n\n- one\n\n  - two\n\n::\n\n  code\n',
  ],
  [
    'asciidoc',
    '= Foxes\n\nA *fox* https://x.y[runs].\n\n|===\n|a |b\n|1 |2\n|===\n\n* one\n** two\n\n----\ncode\n----\n',
  ],
  ['html', HTML],
  ['text', 'Foxes\n\nA fox runs.\n\nIt sleeps.'],
  ['pdf', makePdf([[[20, 72, 700, 'Foxes']], [[12, 72, 700, 'A fox runs.']]], { info: '/Title (Foxes)' })],
  ['docx', makeDocx(wordParagraph('Foxes', { style: 'heading1' }) + wordTable([['a', 'b']]), 'Foxes')],
  ['odt', makeOdt('<text:h>Foxes</text:h><text:p>A <text:s/>fox.</text:p>', 'Foxes')],
  ['pptx', makePptx([slideShape(['Foxes'], 'type="title"') + slideShape(['A fox.'])])],
  ['yaml', 'foxes:\n  # Old.\n  - name: A\n    age: [1, 2]\nx: &a {b: c}\ny: *a\n'],
  ['ini', '[foxes]\n# Old.\nname = "A"\nages = [\n  1,\n]\n'],
  ['epub', makeEpub([HTML, '<h1>Two</h1>'])],
  ['csv', 'name,age\nfox,3\n"a, b",4\n\nbear;5\n'],
  [
    'xlsx',
    makeXlsx({
      Foxes: [
        ['name', 'age'],
        ['fox', 3],
        ['bear', [44_000]],
      ],
    }),
  ],
  ['notebook', JSON.stringify({ cells: [CELL('markdown'), CELL('code')], metadata: {}, nbformat: 4 })],
  ['code', readFileSync(import.meta.filename), 'fuzz.ts'],
  ['code', '# Foxes\nclass Fox:\n    """Runs."""\n    def run(self):\n        return 1\n', 'fox.py'],
];

/** One change at a position, given as a share of the length. */
const mutations = fc.array(
  fc.record({
    kind: fc.constantFrom('delete', 'repeat', 'flip', 'insert', 'cut'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 40 }),
    times: fc.constantFrom(2, 10, 300, 3_000),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      fc
        .constantFrom(
          '[',
          '*a_ ',
          '|',
          '<b id=x>',
          '</',
          '> ',
          '- ',
          '\n\n',
          '&lt;',
          '{',
          '$',
          '"',
          '999999999',
          '\u{1f98a}',
        )
        .map(strToU8),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);
type Mutation = ReturnType<
  typeof fc.sample<typeof mutations extends fc.Arbitrary<infer T> ? T : never>
>[number][number];

function mutate(bytes: Uint8Array, changes: readonly Mutation[]): Uint8Array {
  let result = Buffer.from(bytes);
  for (const { kind, at, length, times, bytes: added } of changes) {
    const from = Math.floor(at * result.length);
    const [before, slice, after] = [
      result.subarray(0, from),
      result.subarray(from, from + length),
      result.subarray(from + length),
    ];
    const middle = {
      delete: [],
      repeat: Array<Uint8Array>(times).fill(slice),
      flip: [slice.map((byte, index) => byte ^ (added[index % added.length] ?? 1))],
      insert: [...Array<Uint8Array>(times).fill(added), slice],
      cut: [],
    }[kind];
    result = Buffer.concat(kind === 'cut' ? [before] : [before, ...middle, after]);
  }
  return result;
}

/** Changes a file inside an archive, or the bytes themselves. */
function mutateInside(bytes: Uint8Array, changes: readonly Mutation[], inside: number): Uint8Array {
  if (bytes[0] !== 0x50 || inside > 0.8) return mutate(bytes, changes);
  const files = unzipSync(bytes);
  const paths = Object.keys(files);
  const path = paths[Math.floor((inside / 0.8) * (paths.length - 1))] ?? '';
  return zipSync({ ...files, [path]: mutate(files[path] ?? new Uint8Array(), changes) });
}

test('any document is parsed or skipped within the limits', {
  timeout: SECONDS * 2_000 + 60_000,
}, async () => {
  const parser = createParserProcess({ seconds: 10, memoryMb: 512, outputMb: 32 });
  onTestFinished(parser.close);
  const documents = fc.record({
    seed: fc.constantFrom(...seeds),
    changes: mutations,
    inside: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(documents, async ({ seed: [mediaType, source, file = 'page'], changes, inside }) => {
      const bytes = mutateInside(typeof source === 'string' ? strToU8(source) : source, changes, inside);
      const outcome = await parser
        .parse({ uri: `file:///docs/${file}`, mediaType, bytes })
        .catch((error: unknown) => error);
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({ name: 'AppError', kind: 'invalid_input' });
        expect(outcome.message).not.toContain('ended its parser');
      } else expectSoundBlocks(outcome as ParsedDocument);
    }),
    { numRuns: 1_000_000, interruptAfterTimeLimit: SECONDS * 1000, endOnFailure: SECONDS < 60 },
  );
});
