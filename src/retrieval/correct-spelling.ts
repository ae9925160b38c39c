import type { SpellingCorrection } from '../domain/retrieval-context.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import { nearWords } from '../text/misspellings.ts';
import { indexTerms, STOP_WORDS } from '../text/terms.ts';

/** Words of plain letters that are not part of a name, a path or code. */
const PLAIN_WORD =
  /(?<![\p{L}\p{M}\p{N}_./\\@#:$`'’-])[a-z]{5,}(?![\p{L}\p{M}\p{N}_/\\@(`]|[.:'’-][\p{L}\p{N}])/giu;
/** A text with more unknown words is about something else, not misspelled. */
const MAX_UNKNOWN_WORDS = 3;
/** Candidates that are verified, and passages that are read to verify one. */
const MAX_VERIFIED = 3;

/** Whether a dictionary has the word; null if there is no dictionary. */
type WordCheck = ((word: string) => boolean) | null;

interface CorrectedText {
  text: string;
  corrections: SpellingCorrection[];
}

/** Replaces misspelled words by words of the collection. Words that a document or `isWord` has are kept. */
export async function correctSpelling(
  text: string,
  store: ChunkStore,
  isWord: WordCheck,
): Promise<CorrectedText> {
  const corrections: SpellingCorrection[] = [];
  for (const typed of await findUnknownWords(text, store)) {
    const word = typed.toLowerCase();
    if (isWord?.(word)) continue;
    // Without a dictionary, a word with a replaced letter may be a correct one.
    const candidates = nearWords(word).filter(({ replaced }) => isWord !== null || !replaced);
    const meant = await findLikeliest(candidates, store, isWord);
    if (meant !== null) corrections.push({ typed, meant });
  }
  const replacements = new Map(corrections.map(({ typed, meant }) => [typed, meant]));
  return { corrections, text: text.replace(PLAIN_WORD, (word) => replacements.get(word) ?? word) };
}

async function findUnknownWords(text: string, store: ChunkStore): Promise<string[]> {
  const words = [...new Set(text.match(PLAIN_WORD))].filter((word) => !STOP_WORDS.has(word.toLowerCase()));
  const terms = new Map(words.map((word) => [word, indexTerms(word)]));
  const known = await store.containing?.([...new Set([...terms.values()].flat())]);
  if (known === undefined) return [];
  const unknown = words.filter((word) => !terms.get(word)?.some((term) => known.has(term)));
  return unknown.length > MAX_UNKNOWN_WORDS ? [] : unknown;
}

/** The candidate that is the likeliest typo and occurs in most chunks; null if none occurs. */
async function findLikeliest(
  candidates: readonly { word: string; weight: number }[],
  store: ChunkStore,
  isWord: WordCheck,
): Promise<string | null> {
  const termOf = (word: string) => indexTerms(word)[0] ?? word;
  const counts = await store.containing?.([...new Set(candidates.map(({ word }) => termOf(word)))]);
  const ranked = candidates
    .map(({ word, weight }) => ({ word, likelihood: weight * Math.log1p(counts?.get(termOf(word)) ?? 0) }))
    .filter(({ likelihood }) => likelihood > 0)
    .sort((a, b) => b.likelihood - a.likelihood);
  // Words with the same stem are one term: "linter" counts as found in documents that only have "lint".
  for (const { word } of ranked.slice(0, MAX_VERIFIED)) {
    if (isWord?.(word) || (await occursAsWritten(word, store))) return word;
  }
  return null;
}

async function occursAsWritten(word: string, store: ChunkStore): Promise<boolean> {
  const hits = await store.search({ text: word, vector: null, limit: MAX_VERIFIED, filter: {} });
  const written = new RegExp(`(?<!\\p{L})${word}(?!\\p{L})`, 'iu');
  return hits.some(({ chunk: { title, headings, text } }) =>
    [title, ...headings, text].some((part) => written.test(part)),
  );
}
