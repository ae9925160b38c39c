import { expect, test } from 'vitest';
import {
  isOptionalTerm,
  splitTermWords,
  stripMarkdown,
  toBaseTerms,
  toBaseTermsOfWord,
} from '../../../src/judge/facts/split-words.ts';

const textsOf = (text: string) => splitTermWords(text).map((word) => word.text);

test.each([
  ['send', 'sent'],
  ['lose', 'lost'],
  ['build', 'built'],
  ['make', 'made'],
  ['keep', 'kept'],
  ['hold', 'held'],
  ['find', 'found'],
  ['give', 'given gave'],
  ['take', 'taken took'],
  ['write', 'written wrote'],
  ['choose', 'chosen chose'],
  ['run', 'ran'],
  ['begin', 'began begun'],
  ['know', 'known knew'],
  ['show', 'shown'],
  ['mean', 'meant'],
  ['buy', 'bought'],
  ['bring', 'brought'],
  ['teach', 'taught'],
  ['lead', 'led'],
  ['pay', 'paid'],
  ['say', 'said'],
  ['speak', 'spoken spoke'],
  ['break', 'broken broke'],
  ['drive', 'driven drove'],
  ['grow', 'grown grew'],
  ['become', 'became'],
  ['child', 'children'],
  ['person', 'people'],
  ['index', 'indices indexes'],
  ['matrix', 'matrices'],
  ['vertex', 'vertices'],
])('maps the forms of "%s" to one term: %s', (base, forms) => {
  for (const form of forms.split(' ')) expect(toBaseTerms(form), form).toEqual(toBaseTerms(base));
  expect(toBaseTerms(base)).toHaveLength(1);
});

test('returns the same terms for a word every time', () => {
  for (const word of ['written', 'KEEP_LAST', 'w'.repeat(40), 'w'.repeat(41)]) {
    expect(toBaseTermsOfWord(word)).toEqual(toBaseTerms(word));
    expect(toBaseTermsOfWord(word)).toEqual(toBaseTerms(word));
  }
});

test('removes Markdown but keeps text that only looks like it', () => {
  expect(stripMarkdown('See [the **docs**](https://a.example/x) _now_.')).toBe('See the docs now.');
  expect(stripMarkdown('![A plot](plot.png) of *one* and ***two***')).toBe('A plot of one and two');
  expect(stripMarkdown('## Head\n  # Other\ntext #3')).toBe('Head\nOther\ntext #3');
  expect(stripMarkdown('|a|b|')).toBe(' a b ');
  expect(stripMarkdown('snake_case and 2 * 3 and list[0]')).toBe('snake_case and 2 * 3 and list[0]');
});

test('splits words without punctuation and marks the ends of clauses and sentences', () => {
  expect(textsOf('“Owls,” he said, (mostly) `hunt` — at night…')).toEqual([
    'Owls',
    'he',
    'said',
    'mostly',
    'hunt',
    'at',
    'night',
  ]);
  const ends = splitTermWords('One, two. Three! "Four?" five — six; seven (eight) nine');
  expect(ends.filter(({ endsClause }) => endsClause).map(({ text }) => text)).toEqual([
    'One',
    'two',
    'Three',
    'Four',
    'five',
    'six',
  ]);
  expect(ends.filter(({ endsSentence }) => endsSentence).map(({ text }) => text)).toEqual([
    'two',
    'Three',
    'Four',
  ]);
});

test('ends a clause at a dash', () => {
  const [first, second] = splitTermWords('owls – hunt');
  expect([first?.endsClause, second?.endsClause]).toEqual([true, false]);
  expect(splitTermWords('owls " hunt')[0]?.endsClause).toBe(false);
  expect(splitTermWords('— . …')).toEqual([]);
});

test('normalizes apostrophes', () => {
  expect(textsOf('don’t ‘em')).toEqual(["don't", 'em']);
  expect(textsOf(`${'x’'.repeat(150)}`)).toEqual(["x'".repeat(150)]);
});

test('gives stop words no term', () => {
  expect(splitTermWords('the owls of it').map(({ term }) => term)).toEqual([null, 'owl', null, null]);
});

test('treats words about the text as optional', () => {
  for (const word of ['roughly', 'documentation', 'chapter', 'example'])
    expect(isOptionalTerm(toBaseTerms(word)[0] ?? ''), word).toBe(true);
  expect(isOptionalTerm('owl')).toBe(false);
});
