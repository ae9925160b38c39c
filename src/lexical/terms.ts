import { stemmer } from 'stemmer';
import { STOP_WORDS } from './stop-words.ts';

/** Runs of letters, digits and the characters that hold an identifier together. */
const WORD = /[\p{L}\p{N}]+(?:(?:[_.:/@+-]+|['’])[\p{L}\p{N}]+)*/gu;
const SEPARATOR = /[_.:/@+'’-]+/u;
/** Between the humps of camelCase, and between letters and the capital that starts a word: `HTTPServer`. */
const HUMP = /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const POSSESSIVE = /['’]s$/iu;

/**
 * The index terms of a text, in order: lower case, without diacritics, English words stemmed.
 * A compound such as `rclpy.spin_once` or `SimulationApp` yields its parts and itself with the
 * separators removed, so that it is found both by its name and by its words.
 */
export function indexTerms(text: string): string[] {
  const terms: string[] = [];
  for (const [word] of text.matchAll(WORD)) addTerms(word, terms);
  return terms;
}

/** The distinct terms worth searching for. If a query is made of stop words only, all of them count. */
export function queryTerms(query: string): string[] {
  const terms: string[] = [];
  for (const [word] of query.matchAll(WORD)) {
    if (!STOP_WORDS.has(fold(word.replace(POSSESSIVE, '')))) addTerms(word, terms);
  }
  return [...new Set(terms.length > 0 ? terms : indexTerms(query))];
}

function addTerms(word: string, terms: string[]): void {
  const parts = word.replace(POSSESSIVE, '').split(SEPARATOR);
  for (const part of parts) {
    const humps = part.split(HUMP);
    if (humps.length > 1) for (const hump of humps) terms.push(term(hump));
    terms.push(term(part));
  }
  if (parts.length > 1) terms.push(fold(parts.join('')));
}

function fold(word: string): string {
  return word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

const stems = new Map<string, string>();

/** Stemming costs a dozen regular expressions a word, and a corpus repeats its words: remember a bounded number. */
function term(word: string): string {
  const folded = fold(word);
  if (folded.length < 3 || !/^[a-z]+$/.test(folded)) return folded;
  const known = stems.get(folded);
  if (known !== undefined) return known;
  if (stems.size >= 50_000) stems.clear();
  const stem = stemmer(folded);
  stems.set(folded, stem);
  return stem;
}
