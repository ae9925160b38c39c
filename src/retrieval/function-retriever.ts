import * as z from 'zod';
import { hashContent } from '../domain/document.ts';
import type { Filter } from '../domain/query.ts';
import { createRetrievalContext } from '../domain/retrieval-context.ts';
import { nonBlankTextSchema, scoreSchema, sourceUrlSchema } from '../domain/retrieved-chunk.ts';
import { parseOrThrow } from '../faults/parse-or-throw.ts';
import type { StoredChunk } from '../ports/chunk-store.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import {
  type RankedHit,
  type RetrievalClock,
  type Retriever,
  systemRetrievalClock,
  toUnrankedChunk,
} from './create-retriever.ts';

const passageSchema = z.object({
  text: nonBlankTextSchema,
  /** What citations link to; default: a name from the text. */
  url: sourceUrlSchema.optional(),
  /** Default: the URL. */
  title: z.string().optional(),
  /** From 0 to 1; default 1. */
  score: scoreSchema.optional(),
  /** Identifies the passage; default: from its URL and text. */
  id: z.string().min(1).optional(),
  /** Outermost first. */
  headings: z.array(z.string()).optional(),
});
const passagesSchema = z.array(
  z.preprocess((given) => (typeof given === 'string' ? { text: given } : given), passageSchema),
);

/** A passage that a retriever of the caller returns. */
export type Passage = z.input<typeof passageSchema>;

/** Returns passages for a query, best first; a text stands for a passage without other fields. */
export type RetrieveFunction = (
  query: string,
  options: { topK: number; filter: Filter; signal?: AbortSignal | undefined },
) => Promise<readonly (Passage | string)[]>;

/** Passages that can be read again in a conversation. */
const MAX_REMEMBERED = 1000;

/** A retriever that calls a function. Throws `configuration_error` if that does not return passages. */
export function createFunctionRetriever(
  retrieve: RetrieveFunction,
  {
    scoreThreshold: defaultThreshold = 0,
    clock = systemRetrievalClock,
  }: { scoreThreshold?: number | undefined; clock?: RetrievalClock | undefined } = {},
): Retriever & { passage(chunkId: string): StoredChunk | undefined } {
  const remembered = new Map<string, StoredChunk>();

  function remember(chunk: StoredChunk): void {
    remembered.set(chunk.chunkId, chunk);
    const [oldest = ''] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED) remembered.delete(oldest);
  }

  return {
    passage: (chunkId) => remembered.get(chunkId),
    async retrieve({ text: query, topK, filter, scoreThreshold = defaultThreshold }, signal) {
      const started = clock.elapsedMs();
      const returned = await retrieve(query, { topK, filter, signal });
      const passages = parseOrThrow(
        passagesSchema,
        returned,
        'The result of the retriever',
        'configuration_error',
      );
      const found = passages.map((passage): RankedHit => {
        const { score = 1 } = passage;
        const chunk = toStoredChunk(passage);
        return {
          chunk,
          score,
          fusedScore: score,
          lexical: null,
          dense: null,
          fusedRank: 1,
          rerankScore: null,
        };
      });
      const relevant = found
        .filter(({ score }) => score >= scoreThreshold)
        .map((hit, index) => ({ ...hit, fusedRank: index + 1 }));
      const hits = relevant.slice(0, topK);
      for (const { chunk } of hits) remember(chunk);
      const [nearest] = found;
      return {
        hits,
        context: createRetrievalContext({
          query,
          filter,
          chunks: hits.map(toUnrankedChunk),
          totalFound: relevant.length,
          scoreThreshold,
          nearMiss: relevant.length === 0 && nearest ? toUnrankedChunk(nearest) : null,
          queryTimeMs: clock.elapsedMs() - started,
          retrievedAt: clock.now().toISOString(),
        }),
      };
    },
  };
}

function toStoredChunk({ text, ...given }: z.infer<typeof passageSchema>): StoredChunk {
  const contentHash = hashContent(text);
  const url = given.url ?? `passage-${contentHash.slice(0, 8)}`;
  return {
    chunkId: given.id ?? hashContent(`${url}\n${text}`),
    text,
    url,
    title: given.title ?? url,
    chunkIndex: 0,
    module: null,
    chapter: null,
    headings: given.headings ?? [],
    tokenCount: Math.max(1, estimateTokens(text)),
    contentHash,
  };
}
