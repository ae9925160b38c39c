import { expect, test } from 'vitest';
import { findBestPassage, prepareEvidence, toContentTerms } from '../../../src/judge/facts/evidence.ts';
import { splitTermWords } from '../../../src/judge/facts/split-words.ts';

const sourceOf = (text: string, title = '', headings: string[] = []) =>
  prepareEvidence({ text, title, headings });

function passageOf(claim: string, text: string, title = '', headings: string[] = []) {
  const evidence = sourceOf(text, title, headings);
  return findBestPassage(toContentTerms(splitTermWords(claim), evidence), evidence);
}

const shareOf = (...args: Parameters<typeof passageOf>) => passageOf(...args).share;

/** The words that must be borne out. */
const contentIn = (claim: string, text = '') =>
  toContentTerms(splitTermWords(claim), sourceOf(text)).map((terms) => terms.join('+'));

test('counts content words once, without numbers, units and optional words', () => {
  expect(contentIn('The owl and the owl hunt.')).toEqual(['owl', 'hunt']);
  expect(contentIn('It takes 30 seconds, or three minutes, of owl.')).toEqual(['take', 'owl']);
  expect(contentIn('A second owl.')).toEqual(['second', 'owl']);
  expect(contentIn('Roughly, an owl.')).toEqual(['owl']);
  expect(contentIn('Roughly, an owl.', 'Roughly so.')).toEqual(['roughli', 'owl']);
});

test('counts all words of a claim of stop words', () => {
  expect(contentIn('It is so.').length).toBeGreaterThan(0);
  expect(shareOf('It is.', 'It is.')).toBe(shareOf('Owls hunt.', 'Owls hunt.'));
});

test('counts a compound as one word, and each term of scripts without spaces', () => {
  expect(contentIn('KEEP_LAST')).toEqual(['keep+last+keeplast']);
  expect(shareOf('KEEP_LAST', 'It will keep.')).toBeCloseTo(1 / 3);
  const text = '机器人操作系统控制手臂';
  expect(contentIn(text).length).toBeGreaterThan(4);
  expect(contentIn(text).every((term) => !term.includes('+'))).toBe(true);
});

test('counts words in the sentence, title and headings fully', () => {
  expect(shareOf('Owls hunt mice.', 'Owls hunt mice.')).toBe(1);
  expect(shareOf('Owls hunt mice.', 'Mice hide.', 'Owls')).toBeCloseTo(2 / 3);
  expect(shareOf('Owls hunt mice.', 'Mice hide.', '', ['Where owls hunt'])).toBe(1);
  expect(shareOf('Owls hunt mice.', '')).toBe(0);
});

test('counts words of neighbouring sentences less, unless a pronoun connects them', () => {
  const claim = 'Owls hunt mice in barns.';
  expect(shareOf(claim, 'Birds hunt mice in barns. Owls fly.')).toBeCloseTo((3 + 0.6) / 4);
  expect(shareOf(claim, 'Owls fly. Birds hunt mice in barns.')).toBeCloseTo((3 + 0.6) / 4);
  expect(shareOf(claim, 'Owls fly. They hunt mice in barns.')).toBe(1);
  expect(shareOf(claim, 'Birds hunt mice in barns. These are owls.')).toBe(1);
  expect(shareOf(claim, 'Owls fly. So it is. Birds hunt mice in barns.')).toBeCloseTo(3 / 4);
});

test('prefers the sentence with the subject, then the first one', () => {
  expect(passageOf('Owls hunt mice.', 'Birds hunt mice. Birds hunt mice.').best?.sentence).toBe(0);
  const { best } = passageOf('Owls hunt mice.', 'Birds hunt mice. Then again. Owls eat mice.');
  expect(best?.sentence).toBe(2);
});

test('returns the clauses of the best sentence and its neighbours', () => {
  const text =
    'One is red. Two is red, and the three is red. Owls hunt mice. Four is red; the five is red. Six is red.';
  const { clauses, terms } = passageOf('Owls hunt mice.', text);
  expect(clauses.map(({ sentence }) => sentence)).toEqual([1, 1, 2, 3, 3]);
  expect(terms).toContain('red');
  expect(terms).not.toContain('six');
});

test('finds nothing in an empty text or for a claim without words', () => {
  expect(passageOf('Owls hunt.', '')).toMatchObject({ share: 0, best: null, clauses: [] });
  expect(passageOf('...', 'Owls hunt.')).toMatchObject({ share: 0 });
});
