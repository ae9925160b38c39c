import { queryTerms } from '../../lexical/terms.ts';
import type { Head } from './collection-head.ts';
import type { Connection } from './connection.ts';
import { TERMS } from './point-payload.ts';
import { type SparseVector, termIndex } from './sparse-terms.ts';
import { type QdrantFilter, visibleAt } from './visibility.ts';

/** More terms than a question has; of a whole page pasted as one, those that the nearest chunks have. */
const MOST_TERMS = 128;
/** As FTS5 has it, however common a term is. */
const LEAST_WORTH = 1e-6;
/** From this size on, terms in more than a fifth of the chunks are left out of queries, as in the embedded store. */
const LARGE_COLLECTION = 50_000;
const COMMON_SHARE = 0.2;
const MOST_KNOWN = 10_000;
/** From how many chunks it is seen which of a great many terms there are at all. */
const PROBED_CHUNKS = 50;

export interface LexicalQuery {
  vector: SparseVector;
  /** What a chunk of ordinary length that has each of the terms once would score. */
  worth: number;
}

interface TermWeightsOptions {
  connection: Connection;
  name: string;
  chunks: string;
}

/** Weighs the terms of queries by how rare they are among the chunks that readers see. */
export function createTermWeights({ connection, name, chunks }: TermWeightsOptions) {
  let known = { epoch: -1, containing: new Map<string, number>() };

  function count(filter: QdrantFilter): Promise<number> {
    return connection
      .call(name, (client) => client.count(chunks, { filter, exact: true }))
      .then((result) => result.count);
  }

  /** How many chunks have each term. Counted side by side: as long as one request takes. */
  async function containing(terms: readonly string[], { epoch }: Head): Promise<Map<string, number>> {
    if (known.epoch !== epoch || known.containing.size > MOST_KNOWN) known = { epoch, containing: new Map() };
    const counts = known.containing;
    await Promise.all(
      terms
        .filter((term) => !counts.has(term))
        .map(async (term) => {
          const filter = visibleAt(epoch, [{ key: 'terms', match: { value: termIndex(term) } }]);
          counts.set(term, await count(filter));
        }),
    );
    return counts;
  }

  /** Those of a great many terms that the chunks with most of them have. */
  async function present(terms: readonly string[], { epoch }: Head): Promise<string[]> {
    const indices = [...new Set(terms.map(termIndex))];
    const { points } = await connection.call(name, (client) =>
      client.query(chunks, {
        query: { indices, values: indices.map(() => 1) },
        using: TERMS,
        filter: visibleAt(epoch),
        limit: PROBED_CHUNKS,
        with_payload: ['terms'],
      }),
    );
    const there = new Set(points.flatMap(({ payload }) => (payload?.terms ?? []) as number[]));
    return terms.filter((term) => there.has(termIndex(term))).slice(0, MOST_TERMS);
  }

  /** The terms to look for; null if there is none that any chunk has. */
  return async function weigh(query: string, head: Head): Promise<LexicalQuery | null> {
    const asked = queryTerms(query);
    if (asked.length === 0 || head.chunks === 0) return null;
    const looked = asked.length > MOST_TERMS ? await present(asked, head) : asked;
    const counts = await containing(looked, head);
    const isCommon = (term: string) =>
      head.chunks >= LARGE_COLLECTION && (counts.get(term) ?? 0) > head.chunks * COMMON_SHARE;
    const telling = asked.filter((term) => !isCommon(term));
    const weighed = (telling.length > 0 ? telling : asked).map((term) => {
      const found = counts.get(term) ?? 0;
      return { index: termIndex(term), found, worth: worthOf(head.chunks, found) };
    });
    const values = new Map(
      weighed.filter(({ found }) => found > 0).map(({ index, worth }) => [index, worth]),
    );
    if (values.size === 0) return null;
    return {
      vector: { indices: [...values.keys()], values: [...values.values()] },
      worth: weighed.reduce((sum, { worth }) => sum + worth, 0),
    };
  };
}

/** The weight of a term in BM25 as FTS5 has it: the rarer, the more. */
function worthOf(total: number, containing: number): number {
  return Math.max(LEAST_WORTH, Math.log((total - containing + 0.5) / (containing + 0.5)));
}
