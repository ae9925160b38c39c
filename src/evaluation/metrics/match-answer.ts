import { findDigits, findMissingNumbers, isNegated } from '../../citations/check-sentence.ts';
import { splitSentences } from '../../text/split-sentences.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';

/** With this share of the content words of the expected answer, an answer says the same; below the other, it does not. */
const SAME_SHARE = 0.75;
const OTHER_SHARE = 0.25;
/** Numbers and negations. */
const COMPARED_APART = /^(?:\d+|cannot|without|none|never)$/;
const CLAUSE_END = /[,;:()–—]\s|\s(?:but|whereas|although|however)\s/iu;

/**
 * Whether an answer says what is expected: most of its content words, all of its numbers, and no negation that it does
 * not have. Null if words alone do not tell.
 */
export function matchesAnswer(answer: string, expected: string): boolean | null {
  const [word, ...others] = normalizeWords(expected);
  if (others.length === 0 && (word === 'yes' || word === 'no')) {
    const [first] = normalizeWords(answer);
    return first === 'yes' || first === 'no' ? first === word : null;
  }
  const given = new Set(indexTerms(answer));
  const named = findDigits(expected).filter(({ isNamed }) => isNamed);
  if (named.some(({ value }) => !given.has(String(value)))) return false;
  if (findMissingNumbers(expected, answer).length > 0) return false;
  const statements = toSentences(expected).map((statement) => matchesStatement(answer, statement));
  if (statements.includes(false)) return false;
  return statements.includes(null) ? null : true;
}

function matchesStatement(answer: string, expected: string): boolean | null {
  const wanted = queryTerms(expected).filter((term) => !COMPARED_APART.test(term));
  const sharedTerms = (text: string) => {
    const given = new Set(indexTerms(text));
    return wanted.filter((term) => given.has(term)).length;
  };
  const share = wanted.length === 0 ? 1 : sharedTerms(answer) / wanted.length;
  if (share < SAME_SHARE) return share < OTHER_SHARE ? false : null;
  const closest = (texts: readonly string[]) =>
    texts.reduce((best, text) => (sharedTerms(text) > sharedTerms(best) ? text : best), '');
  const sentence = closest(toSentences(answer));
  // "It is reliable, not best effort" denies nothing about reliable.
  return isNegated(expected) ? isNegated(sentence) : !isNegated(closest(sentence.split(CLAUSE_END)));
}

function toSentences(text: string): string[] {
  const sentences = splitSentences(text).map(({ start, end }) => text.slice(start, end));
  return sentences.length > 0 ? sentences : [text];
}

const ASCII_TEXT = /^[ -~\s]*$/;
const ARTICLES = new Set(['a', 'an', 'the']);

/** Lower-case words without accents, punctuation, articles and citation markers. */
function normalizeWords(text: string): string[] {
  const lower = text.toLowerCase().replace(/\[\d+\]/g, ' ');
  // Unicode normalization is slow, and most texts do not need it.
  const words = ASCII_TEXT.test(lower)
    ? lower.match(/[a-z0-9]+/g)
    : lower
        .normalize('NFKD')
        .toLowerCase()
        .replace(/\p{M}+/gu, '')
        .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).filter((word) => !ARTICLES.has(word));
}

/** Whether the words of a phrase occur in a row, ignoring case, accents and punctuation. False for a phrase without words. */
export function containsPhrase(text: string, phrase: string): boolean {
  const wanted = normalizeWords(phrase);
  return wanted.length > 0 && ` ${normalizeWords(text).join(' ')} `.includes(` ${wanted.join(' ')} `);
}
