import { indexTerms, queryTerms } from '../../lexical/terms.ts';

/** Most text is, and needs none of the slower rules. */
const PLAIN = /^[ -~\s]*$/;
const ARTICLES = new Set(['a', 'an', 'the']);

/** The words of a text as answers are compared: lower case, no accents, no punctuation, no articles. */
export function normalisedWords(text: string): string[] {
  const lower = text.toLowerCase().replace(/\[\d+\]/g, ' ');
  const words = PLAIN.test(lower)
    ? lower.match(/[a-z0-9]+/g)
    : lower
        .normalize('NFKD')
        .toLowerCase()
        .replace(/\p{M}+/gu, '')
        .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).filter((word) => !ARTICLES.has(word));
}

/** Whether the words of a phrase stand in a row in a text. A phrase of nothing but punctuation stands nowhere. */
export function holdsPhrase(text: string, phrase: string): boolean {
  const wanted = normalisedWords(phrase);
  return wanted.length > 0 && ` ${normalisedWords(text).join(' ')} `.includes(` ${wanted.join(' ')} `);
}

/** The harmonic mean of the shares of words in common, each word as often as it stands on both sides. */
export function tokenF1(answer: string, expected: string): number {
  const given = normalisedWords(answer);
  const wanted = normalisedWords(expected);
  if (given.length === 0 || wanted.length === 0) return given.length === wanted.length ? 1 : 0;
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of given) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    common += 1;
  }
  return (2 * common) / (given.length + wanted.length);
}

/** The share of the terms of a text, stop words aside, that an answer holds in any form of the word. */
export function contentRecall(answer: string, expected: string): number {
  const wanted = queryTerms(expected);
  if (wanted.length === 0) return 0;
  const given = new Set(indexTerms(answer));
  return wanted.filter((term) => given.has(term)).length / wanted.length;
}
