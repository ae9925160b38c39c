import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import {
  createTokenizer,
  toModelInput,
  type Vocabulary,
  type WordPieceTokenizer,
} from '../../../src/adapters/onnx/word-pieces.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { loadModelFiles } from '../../support/model-files.ts';
import { modelLocation } from '../../support/model-weights.ts';

let reference: Tokenizer;
let tokenizer: WordPieceTokenizer;
let pieces: string[];

beforeAll(async () => {
  const files = await loadModelFiles(modelLocation());
  const settings = JSON.parse(files['tokenizer.json'].toString()) as { model: { vocab: Vocabulary } };
  reference = new Tokenizer(settings, JSON.parse(files['tokenizer_config.json'].toString()) as object);
  tokenizer = createTokenizer(settings.model.vocab);
  pieces = Object.keys(settings.model.vocab);
});

const expected = (text: string) => reference.encode(text, { add_special_tokens: false }).ids;

test.each([
  'ROS 2 nodes talk over DDS; the default QoS is "reliable".',
  '  Tabs\tand\nlines\r\n, form\ffeeds and \u0085 next lines, \ufeff marks and \u00a0 wide spaces ',
  'Žluťoučký kůň, naïve café, ÅNGSTRÖM, ß, İstanbul, ŒUVRE, ﬁne',
  '机器人 操作系统は楽しい 한국어 𠀀𠮷 豈',
  'zero\u200bwidth\u200djoiners and soft\u00adhyphens, \ud800 alone, \ufffd, \u0000, \ue000',
  'constructor __proto__ toString hasOwnProperty',
  '[CLS] in a text [SEP][MASK] [mask] [UNK]x[PAD]',
  `${'x'.repeat(100)} ${'x'.repeat(101)} ${'\u{1f916}'.repeat(60)}`,
  'valueOf',
  'antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis',
  '',
  ' ',
])('tokenizes %j as the reference does', (text) => {
  expect(tokenizer.tokenize(text)).toEqual(expected(text));
});

test('tokenizes any text as the reference does', () => {
  const piece = fc.nat(pieces.length - 1).map((index) => pieces[index]?.replace(/^##/, '') ?? '');
  const part = fc.oneof(
    piece,
    fc.string({ unit: anyCharacter, maxLength: 8 }),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom(' ', '\t', '[SEP]', "'", '-', '\u0301', '中', '\ud83d'),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.constantFrom('', ' '), (parts, between) => {
      const text = parts.join(between);
      expect(tokenizer.tokenize(text)).toEqual(expected(text));
    }),
    { numRuns: 3000 },
  );
});

test('tokenizes every piece of the vocabulary as the reference does', () => {
  const text = pieces.join(' ');
  expect(tokenizer.tokenize(text)).toEqual(expected(text));
});

test('an input has the special tokens around it and is cut between them', () => {
  const ids = tokenizer.tokenize('How do two nodes exchange messages?');
  expect(toModelInput(ids, 256)).toEqual(reference.encode('How do two nodes exchange messages?').ids);
  expect(toModelInput(ids, 4)).toEqual([101, ids[0], ids[1], 102]);
});

test('located tokens have the positions of their text and the same ids', () => {
  const text = 'Žluťoučký kůň: pneumonoultra\u00adscopic 机器 x\u0301y [SEP] KEEP_LAST’s';
  const { ids, starts, ends } = tokenizer.locate(text);
  expect(ids).toEqual(tokenizer.tokenize(text));
  const written = ids.map((_, index) => text.slice(starts[index], ends[index]));
  expect(written.join('').startsWith('Žluťoučkýkůň:')).toBe(true);
  expect(written).toContain('机');
  expect(written).toContain('[SEP]');
  expect(written.at(-1)).toBe('s');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (any) => {
      const located = tokenizer.locate(any);
      expect(located.ids).toHaveLength(tokenizer.tokenize(any).length);
      located.starts.forEach((start, index) => {
        expect(start).toBeLessThan(located.ends[index] ?? 0);
        expect(start).toBeGreaterThanOrEqual(located.starts[index - 1] ?? 0);
      });
    }),
  );
});
