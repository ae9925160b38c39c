import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkAnswer } from '../../src/citations/check-answer.ts';
import { MarkerNumbers, toSessionRefs } from '../../src/citations/marker-numbers.ts';
import { createWordChecker } from '../../src/citations/word-checker.ts';
import { exampleRegister } from './sources.ts';

/** Its refs are 1 to 3. */
const register = exampleRegister();
const checker = createWordChecker({ store: { wordVectors: async () => new Map() }, embedder: null });

const streamed = (...pieces: string[]) => {
  const numbers = new MarkerNumbers(register);
  return pieces.map((piece) => numbers.push(piece)).join('') + numbers.end();
};

const CASES: [string, string, string][] = [
  ['numbers start at 1', 'It is so. [3] And so. [1]', 'It is so. [1] And so. [2]'],
  ['a source keeps its number', 'It is so. [3] And so. [1][3]', 'It is so. [1] And so. [2][1]'],
  ['a list of refs becomes markers', 'It is so [2, 3].', 'It is so [1][2].'],
  ['an unknown marker goes, with the space before it', 'It is so. [4] Yes.', 'It is so. Yes.'],
  ['of several refs, the known ones stay', 'It is so. [3, 4]', 'It is so. [1]'],
  ['an index stays', 'Take rows[0] and a[2].', 'Take rows[0] and a[2].'],
  ['code stays', 'Write `x = [3]` here.', 'Write `x = [3]` here.'],
  ['a code block stays', '```\n[3]\n```\nand [3]', '```\n[3]\n```\nand [1]'],
  ['a range stays', 'In the range [1, 3] it works.', 'In the range [1, 3] it works.'],
  ['a link stays', 'See [here](https://x.example).', 'See [here](https://x.example).'],
  ['an open bracket at the end stays', 'It is so [4', 'It is so [4'],
];
for (const [name, given, wanted] of CASES) {
  test(`${name}`, () => {
    expect(streamed(given)).toBe(wanted);
    expect(streamed(...given)).toBe(wanted);
  });
}

const piece = fc.oneof(
  fc.string(),
  fc.constantFrom('[1]', '[9]', '[', ']', '`', ' [2, 8] ', 'rows[4]', '.\n'),
);

test('streams the same text however it is split', () => {
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      // A bracket that stays open is given up sooner or later, depending on when more comes.
      fc.pre(!/[ \t]*\[[^\]]{20,}|[ \t]{20}/.test(pieces.join('')));
      expect(streamed(...pieces)).toBe(streamed(pieces.join('')));
    }),
  );
});

test('the checked answer has the numbers of its stream, in text, citations, sentences and reasons', async () => {
  const written = 'Subscribers receive messages in callbacks. [3] A topic can have 7 subscribers. [1]';
  const numbers = new MarkerNumbers(register);
  const shown = numbers.push(written) + numbers.end();
  const checked = numbers.apply(await checkAnswer(written, register, checker, { question: '' }));
  expect(checked.answer).toBe(shown);
  expect(checked.citations.map(({ marker, chunkId }) => [marker, chunkId])).toEqual([
    ['1', 'topics-1'],
    ['2', 'topics-0'],
  ]);
  expect(checked.sentences.map(({ start, end, refs }) => [checked.answer.slice(start, end), refs])).toEqual([
    ['Subscribers receive messages in callbacks.', ['1']],
    ['A topic can have 7 subscribers.', ['2']],
  ]);
  expect(checked.sentences[1]?.reason?.text).toContain('[2]');
});

test('after a reset the numbers start over', () => {
  const numbers = new MarkerNumbers(register);
  numbers.push('Let me look. [2]');
  numbers.reset();
  expect(numbers.push('It is so. [3]')).toBe('It is so. [1]');
});

test('a question refers to the sources of the last answer by their numbers', () => {
  const last = [{ marker: '1', chunkId: 'topics-1' }];
  expect(toSessionRefs('What does [1] say? And [2]?', last, register)).toBe('What does [3] say? And [2]?');
});
