import type { ChunkStore, StoredChunk, StoreHit } from '../ports/chunk-store.ts';
import { indexTerms, STOP_WORDS } from '../text/terms.ts';

/** In no more chunks than these a name is so rare that whoever writes it means what stands there. */
const FEW_CHUNKS = 3;
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[_.:/@+-]+[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;
const IDENTIFIER = /\p{L}.*\p{N}|\p{N}.*\p{L}|[_.:/@+]|\p{Ll}\p{Lu}/u;

/**
 * Those of some hits that hold a rare name of the query: they are what it asks about, however far their meaning is from
 * its other words.
 */
export async function hitsWithRareNames(
  query: string,
  hits: readonly StoreHit[],
  store: ChunkStore,
  isWord: ((word: string) => boolean) | null,
): Promise<Set<StoreHit>> {
  const byWords = hits.filter(({ lexical }) => lexical !== null);
  const names = byWords.length === 0 ? [] : namesIn(query, isWord).map((name) => indexTerms(name));
  if (names.length === 0) return new Set();
  const counts = await store.containing?.([...new Set(names.flat())]);
  // A name of several parts is indexed as a whole too, and last.
  const rare = names.flatMap((terms) => terms.at(-1) ?? []).filter((term) => isFew(counts?.get(term)));
  return new Set(byWords.filter(({ chunk }) => rare.some((term) => termsIn(chunk).has(term))));
}

function isFew(count: number | undefined): boolean {
  return count !== undefined && count > 0 && count <= FEW_CHUNKS;
}

/** Identifiers, words with a capital inside a sentence, and words that no dictionary has. */
function namesIn(query: string, isWord: ((word: string) => boolean) | null): string[] {
  const shouts = query === query.toUpperCase();
  return Array.from(query.matchAll(WORD)).flatMap(({ 0: word, index }) => {
    const lower = word.toLowerCase();
    if (STOP_WORDS.has(lower)) return [];
    if (IDENTIFIER.test(word)) return [word];
    const opens = /(?:^|[.!?]\s+)["'(]*$/u.test(query.slice(0, index));
    const capital = !shouts && !opens && /^\p{Lu}/u.test(word);
    const unheard = isWord !== null && /^\p{L}{4,}$/u.test(word) && !isWord(lower);
    return capital || unheard ? [word] : [];
  });
}

function termsIn({ title, headings, text }: StoredChunk): Set<string> {
  return new Set(indexTerms([title, ...headings, text].join('\n')));
}
