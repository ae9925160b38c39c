import type { RetrievalContext } from '../domain/retrieval-context.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import { findContentWords } from '../text/content-words.ts';
import { findNearestName } from '../text/nearest-name.ts';
import { indexTerms } from '../text/terms.ts';
import type { Retriever } from './create-retriever.ts';

/** Words of a query for which a similar one is looked up. */
const MAX_WORDS = 3;

/** A retriever that adds to each absent word a similar one that the documents contain, for people who mistyped it. */
export function withSuggestions(retriever: Retriever, store: ChunkStore): Retriever {
  return {
    async retrieve(query, signal) {
      const found = await retriever.retrieve(query, signal);
      const suggestions = await suggestWords(store, found.context);
      return { ...found, context: { ...found.context, suggestions } };
    },
  };
}

async function suggestWords(
  store: ChunkStore,
  { absentWords }: RetrievalContext,
): Promise<RetrievalContext['suggestions']> {
  const suggestions: RetrievalContext['suggestions'] = {};
  for (const word of absentWords.slice(0, MAX_WORDS)) {
    const [term = ''] = indexTerms(word);
    const known = (await store.termsFrom?.(term.slice(0, 1))) ?? [];
    const similar = known.filter(({ length }) => length > 3 && Math.abs(length - term.length) <= 1);
    const nearest = findNearestName(term, similar);
    const written = nearest === undefined ? undefined : await findWritten(store, nearest);
    if (written !== undefined) suggestions[word] = written;
  }
  return suggestions;
}

/** An index term as a document writes it. */
async function findWritten(store: ChunkStore, term: string): Promise<string | undefined> {
  const [hit] = await store.search({ text: term, vector: null, limit: 1, filter: {} });
  const text = hit?.chunk.text ?? '';
  const word = findContentWords(text).find((each) => each.term === term);
  return word && text.slice(word.start, word.end).toLowerCase();
}
