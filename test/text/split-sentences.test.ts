import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitPlainSentences, splitSentences } from '../../src/text/split-sentences.ts';
import { anyCharacter } from '../support/any-character.ts';

const sentences = (text: string) => splitPlainSentences(text).map(({ start, end }) => text.slice(start, end));
const ofMarkdown = (text: string) => splitSentences(text).map(({ start, end }) => text.slice(start, end));

test('ends sentences at punctuation, line breaks and in scripts without spaces', () => {
  expect(sentences('  One is here. Two!  Three\nfour? ')).toEqual(['One is here.', 'Two!', 'Three', 'four?']);
  expect(sentences('你好。再见！')).toEqual(['你好。', '再见！']);
  expect(sentences(' \n ')).toEqual([]);
});

test('does not end a sentence at abbreviations, initials, decimals and versions', () => {
  for (const text of [
    'Use tools, e.g. Nav2, here.',
    'See Dr. Smith vs. Mr. Jones (cf. Fig. Two).',
    'It was written by J. R. Smith.',
    'Version 2.0.1 runs at 3.5 Hz.',
    'Neither sub.*.example.com nor what?*no is one.',
    'At most 12 Jan. Monday.',
  ]) {
    expect(sentences(text), text).toEqual([text]);
  }
});

test('ends a sentence after a unit, and at the end of a line', () => {
  expect(sentences('It has 4.2 V. Then it rests.')).toEqual(['It has 4.2 V.', 'Then it rests.']);
  expect(sentences('It takes 67 ms. Then it rests.')).toEqual(['It takes 67 ms.', 'Then it rests.']);
  expect(sentences('It is 3 m. Then it rests.')).toEqual(['It is 3 m.', 'Then it rests.']);
  expect(sentences('See Ms. Smith.')).toEqual(['See Ms. Smith.']);
  expect(sentences('They are made by Acme Inc.\nThen they are sold.')).toEqual([
    'They are made by Acme Inc.',
    'Then they are sold.',
  ]);
});

test('does not end a sentence in code', () => {
  expect(sentences('Run `a. B` now. `c` follows.')).toEqual(['Run `a. B` now.', '`c` follows.']);
  // A backtick of one line does not reach for one of another.
  expect(sentences('One `tick. Here.\nAnd `there. End.')).toEqual([
    'One `tick.',
    'Here.',
    'And `there.',
    'End.',
  ]);
});

test('includes closing emphasis in the sentence', () => {
  expect(sentences('**Control.** It tracks. *So.* It goes.')).toEqual([
    '**Control.**',
    'It tracks.',
    '*So.*',
    'It goes.',
  ]);
});

test('continues a sentence over line breaks but not over blocks', () => {
  const text = '# A title\n\nOne is\nhere. Two\n- three\n- four\n\n```\ncode. Code.\n```\n> five';
  expect(ofMarkdown(text)).toEqual(['A title', 'One is\nhere.', 'Two', 'three', 'four', 'five']);
  expect(splitSentences(text).map(({ heading }) => heading)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test('splits any text into ordered, trimmed sentences', () => {
  const any = fc.oneof(fc.string({ unit: anyCharacter }), fc.stringMatching(/^[A-Za-z.!?`*_ \n]*$/));
  fc.assert(
    fc.property(any, (text) => {
      for (const found of [splitPlainSentences(text), splitSentences(text)]) {
        let last = 0;
        for (const { start, end } of found) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(text.slice(start, end).trim()).toBe(text.slice(start, end));
          expect(end).toBeGreaterThan(start);
          last = end;
        }
      }
    }),
  );
});
