import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MediaType } from '../../../src/domain/document.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { parseSource } from './parse-source.ts';

/** A made-up Markdown document; `#` stands for a word, which is filled in afterwards. */
const inline = fc
  .array(
    fc.constantFrom(
      '#',
      '*#*',
      '**#**',
      '`#`',
      '[#](http://x)',
      '<b>#</b>',
      '#:#',
      '#::#',
      '![#](y)',
      '# <!-- c -->',
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(' '));

const block = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), inline)
    .map(([depth, text]) => `${'\u0001'.repeat(depth)} ${text}`),
  inline,
  fc.array(inline, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
  fc
    .array(inline, { minLength: 1, maxLength: 4 })
    .map((items) => items.map((item) => `- ${item}`).join('\n')),
  fc.tuple(inline, inline, inline).map(([a, b, c]) => `1. ${a}\n   - ${b}\n\n     ${c}\n2. ${a}`),
  fc
    .tuple(fc.constantFrom('js', ''), inline)
    .map(([lang, text]) => `\`\`\`${lang}\n${text}\n\n${text}\n\`\`\``),
  fc.tuple(inline, inline).map(([a, b]) => `| ${a} | ${b} |\n| --- | --- |\n| ${b} | ${a} |`),
  inline.map((text) => `> ${text}`),
  fc.tuple(inline, inline).map(([title, text]) => `:::note ${title}\n\n${text}\n\n:::`),
  fc
    .tuple(inline, inline)
    .map(([a, b]) => `<div><p>${a.replaceAll(/[*`]/g, '')}</p>\n${b.replaceAll(/[*`]/g, '')}</div>`),
  fc.constant('---'),
);

/** Numbers the words, so that each occurs once, and puts the hashes of headings in. */
const documents = fc.array(block, { minLength: 1, maxLength: 12 }).map((blocks) => {
  let count = 0;
  const source = blocks
    .join('\n\n')
    .replaceAll('#', () => `word${count++}x`)
    .replaceAll('\u0001', '#');
  return { source, words: Array.from({ length: count }, (_, index) => `word${index}x`) };
});

test.each(['markdown', 'mdx'] as const)('keeps all words of a %s document in order', async (mediaType) => {
  await fc.assert(
    fc.asyncProperty(documents, async ({ source, words }) => {
      const { text } = await parseSource(mediaType, source);
      expect(text.match(/word\d+x/g) ?? []).toEqual(words);
    }),
    { numRuns: 150 },
  );
});

const soup = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...'# ## - * + > ` ``` ~~~ | --- === :: ::: :::note .. [ ] ( ) < > <div> </p> <!-- --> <b {#x} { } _ ** \\ & &amp; ! 1.'.split(
          ' ',
        ),
      ),
      fc.constantFrom('\n', '\n\n', ' ', '    ', '\t', '\r\n', '\u00a0', '\u2028', '\u0007', '\ufeff'),
      fc.constantFrom(
        'word',
        'a',
        'Title',
        'http://x.y',
        ':ref:`x`',
        '.. note::',
        '+---+',
        '=== ===',
        '- [ ] ',
      ),
      fc.string({ maxLength: 6, unit: anyCharacter }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''));

const formats: MediaType[] = ['markdown', 'mdx', 'rst', 'html', 'text'];

test.each(formats)('parses any text as %s into valid blocks', async (mediaType) => {
  await fc.assert(
    fc.asyncProperty(soup, async (source) => {
      await parseSource(mediaType, source);
    }),
    { numRuns: 300 },
  );
});

test('keeps all words of malformed reStructuredText', async () => {
  const line = fc.constantFrom(
    'word',
    '  word',
    '    word word',
    '- word',
    '* word',
    '1. word',
    'word::',
    '',
    '----',
    '=====',
    '>>> word',
    '| word',
    '**word',
    '``word',
    '`word',
    ':word: word',
    '+---+',
    '| word |',
    '==== ====',
    '.. note:: word',
    '   word',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      let count = 0;
      const source = ['Start', '', ...lines].join('\n').replaceAll('word', () => `word${count++}x`);
      const { text } = await parseSource('rst', source);
      expect(text.match(/word\d+x/g) ?? []).toHaveLength(count);
    }),
    { numRuns: 500 },
  );
});
