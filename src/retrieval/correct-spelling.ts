import type { SpellingCorrection } from '../domain/retrieval-context.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import { nearWords } from '../text/misspellings.ts';
import { indexTerms, STOP_WORDS } from '../text/terms.ts';

/** Words of plain letters that are no part of a name, a path or code. */
const PLAIN_WORD =
  /(?<![\p{L}\p{M}\p{N}_./\\@#:$`'’-])[a-z]{5,}(?![\p{L}\p{M}\p{N}_/\\@(`]|[.:'’-][\p{L}\p{N}])/giu;
/** A text with more words that the collection does not have is not misspelt: it is of something else. */
const MOST_UNKNOWN = 3;
/** Of what may have been meant, and of the passages that have it. */
const MOST_TRIED = 3;

interface Corrected {
  text: string;
  corrections: SpellingCorrection[];
}

/**
 * The query with misspelt words put right by the words of the collection. A word that any document has stays as it
 * is, and so does one that `isWord` knows: it is right, the documents just do not speak of it.
 */
export async function correctSpelling(
  text: string,
  store: ChunkStore,
  isWord: ((word: string) => boolean) | null,
): Promise<Corrected> {
  const corrections: SpellingCorrection[] = [];
  for (const typed of await unknownWords(text, store)) {
    const word = typed.toLowerCase();
    if (isWord?.(word)) continue;
    // Without a dictionary a word with another letter may be a right one.
    const candidates = nearWords(word).filter(({ replaced }) => isWord !== null || !replaced);
    const meant = await likeliest(candidates, store, isWord);
    if (meant !== null) corrections.push({ typed, meant });
  }
  return { corrections, text: withCorrections(text, corrections) };
}

/** The query with what was meant in the place of what was typed. */
function withCorrections(text: string, corrections: readonly SpellingCorrection[]): string {
  const meant = new Map(corrections.map((correction) => [correction.typed, correction.meant]));
  return text.replace(PLAIN_WORD, (word) => meant.get(word) ?? word);
}

async function unknownWords(text: string, store: ChunkStore): Promise<string[]> {
  const words = [...new Set(text.match(PLAIN_WORD))].filter((word) => !STOP_WORDS.has(word.toLowerCase()));
  const terms = new Map(words.map((word) => [word, indexTerms(word)]));
  const known = await store.containing?.([...new Set([...terms.values()].flat())]);
  if (known === undefined) return [];
  const unknown = words.filter((word) => !terms.get(word)?.some((term) => known.has(term)));
  return unknown.length > MOST_UNKNOWN ? [] : unknown;
}

/** The one that a slip leads to most easily and most documents have; null if they have none. */
async function likeliest(
  candidates: readonly { word: string; weight: number }[],
  store: ChunkStore,
  isWord: ((word: string) => boolean) | null,
): Promise<string | null> {
  const termOf = (word: string) => indexTerms(word)[0] ?? word;
  const counts = await store.containing?.([...new Set(candidates.map(({ word }) => termOf(word)))]);
  const ranked = candidates
    .map(({ word, weight }) => ({ word, likelihood: weight * Math.log1p(counts?.get(termOf(word)) ?? 0) }))
    .filter(({ likelihood }) => likelihood > 0)
    .sort((a, b) => b.likelihood - a.likelihood);
  // Words of one stem are one term: "linter" is near "linte", and documents that have "lint" seem to have it.
  for (const { word } of ranked.slice(0, MOST_TRIED)) {
    if (isWord?.(word) || (await standsIn(word, store))) return word;
  }
  return null;
}

/** Whether the best passages for a word have it as it is written. */
async function standsIn(word: string, store: ChunkStore): Promise<boolean> {
  const hits = await store.search({ text: word, vector: null, limit: MOST_TRIED, filter: {} });
  const written = new RegExp(`(?<!\\p{L})${word}(?!\\p{L})`, 'iu');
  return hits.some(({ chunk: { title, headings, text } }) =>
    [title, ...headings, text].some((part) => written.test(part)),
  );
}
