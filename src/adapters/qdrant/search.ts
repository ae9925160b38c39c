import type { Schemas } from '@qdrant/js-client-rest';
import { wrongDimensions } from '../../domain/collection-identity.ts';
import { isEmptyFilter } from '../../domain/query.ts';
import {
  CANDIDATES,
  COMMON_SHARE,
  LARGE_COLLECTION,
  lexicalScore,
  MOST_TERMS,
  type RankedId,
  rankHits,
  type ScoredId,
  termWorth,
} from '../../domain/rank-hits.ts';
import type { StoreSearch } from '../../ports/chunk-store.ts';
import { queryTerms } from '../../text/terms.ts';
import type { Head } from './collection-head.ts';
import type { Connection } from './connection.ts';
import { DENSE, filterConditions, type QdrantFilter, readableAt, TERMS } from './points.ts';
import { type SparseVector, termIndex } from './sparse-terms.ts';

const MOST_KNOWN = 10_000;
/** From how many chunks it is seen which of a great many terms there are at all. */
const PROBED_CHUNKS = 50;

interface SearchOptions {
  connection: Connection;
  name: string;
  chunks: string;
  dimensions: number;
  /** Each shard puts its own candidates forward. */
  shards: number;
}

type Query = Schemas['QueryRequest'];

/**
 * Full text and vectors, each as far as it is asked for, joined into one order. The server finds the candidates
 * of both and the similarity of each of them in one request; the formula is the one of the domain.
 */
export function createSearch(options: SearchOptions) {
  const { connection, name, chunks, dimensions, shards } = options;
  const weights = createTermWeights(options);

  async function ask(searches: Query[]): Promise<ScoredId<string>[][]> {
    if (searches.length === 0) return [];
    const answers = await connection.call(name, (client) => client.queryBatch(chunks, { searches }));
    return answers.map(({ points }) =>
      points.map(({ id, score }) => ({ id: String(id), score })).sort(byScore),
    );
  }

  async function search(
    { text, vector, baseline, limit, filter }: StoreSearch,
    head: Head,
  ): Promise<RankedId<string>[]> {
    if (vector !== null && vector.length !== dimensions) throw wrongDimensions(vector.length, dimensions);
    const candidates = Math.max(CANDIDATES, limit);
    const visible = readableAt(head, filterConditions(filter));
    const words = text === null ? null : await weights.weigh(text, head);
    const byWords: Query[] =
      words === null ? [] : [{ query: words.vector, using: TERMS, filter: visible, limit: candidates }];
    const byMeaning: Query[] = [];
    if (vector !== null) {
      const query = Array.from(vector);
      const params = {
        hnsw_ef: Math.max(128, candidates),
        quantization: { rescore: true, oversampling: 2 },
        acorn: { enable: !isEmptyFilter(filter) },
      };
      const nearest: Query = { query, using: DENSE, filter: visible, params, limit: candidates };
      byMeaning.push(
        words === null
          ? nearest
          : // What only words have found is given its similarity too.
            { prefetch: [nearest, ...byWords], query, using: DENSE, limit: 2 * candidates * shards },
      );
    }
    const [first = [], second = []] = await ask([...byWords, ...byMeaning]);
    return rankHits(
      text === null ? null : words === null ? [] : toShares(first, words),
      vector === null ? null : words === null ? first : second,
      limit,
      baseline,
    );
  }

  return { search, containing: weights.containing };
}

/** Shards answer in any order where scores meet. */
function byScore(a: ScoredId<string>, b: ScoredId<string>): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}

function toShares(scored: readonly ScoredId<string>[], { worth }: LexicalQuery): ScoredId<string>[] {
  return scored.map(({ id, score }) => ({ id, score: lexicalScore(score / worth) }));
}

interface LexicalQuery {
  vector: SparseVector;
  /** What a chunk of ordinary length that has each of the terms once would score. */
  worth: number;
}

/** Weighs the terms of queries by how rare they are among the chunks that readers see. */
function createTermWeights({ connection, name, chunks }: SearchOptions) {
  let known = { of: '', containing: new Map<string, number>() };

  function count(filter: QdrantFilter | null): Promise<number> {
    return connection
      .call(name, (client) => client.count(chunks, { filter, exact: true }))
      .then((result) => result.count);
  }

  /** How many chunks have each term. Counted side by side: as long as one request takes. */
  async function containing(terms: readonly string[], head: Head): Promise<Map<string, number>> {
    // What was counted while a write began is of no later use.
    const of = `${head.epoch} ${head.attempt}`;
    if (known.of !== of || known.containing.size > MOST_KNOWN) known = { of, containing: new Map() };
    const counts = known.containing;
    await Promise.all(
      terms
        .filter((term) => !counts.has(term))
        .map(async (term) => {
          const filter = readableAt(head, [{ key: 'terms', match: { value: termIndex(term) } }]);
          counts.set(term, await count(filter));
        }),
    );
    return counts;
  }

  /** How many of the chunks with most of a great many terms have each. */
  async function probe(terms: readonly string[], head: Head): Promise<Map<string, number>> {
    const indices = [...new Set(terms.map(termIndex))];
    const { points } = await connection.call(name, (client) =>
      client.query(chunks, {
        query: { indices, values: indices.map(() => 1) },
        using: TERMS,
        filter: readableAt(head),
        limit: PROBED_CHUNKS,
        with_payload: ['terms'],
      }),
    );
    const there = new Map<number, number>();
    for (const { payload } of points) {
      for (const index of (payload?.terms ?? []) as number[]) there.set(index, (there.get(index) ?? 0) + 1);
    }
    return new Map(
      terms.flatMap((term): [string, number][] => {
        const found = there.get(termIndex(term));
        return found === undefined ? [] : [[term, found]];
      }),
    );
  }

  /** The terms to look for; null if there is none that any chunk has. */
  async function weigh(query: string, head: Head): Promise<LexicalQuery | null> {
    const terms = queryTerms(query);
    if (terms.length === 0 || head.chunks === 0) return null;
    const looked =
      terms.length > MOST_TERMS ? [...(await probe(terms, head)).keys()].slice(0, MOST_TERMS) : terms;
    const counts = await containing(looked, head);
    const isCommon = (term: string) =>
      head.chunks >= LARGE_COLLECTION && (counts.get(term) ?? 0) > head.chunks * COMMON_SHARE;
    const telling = terms.filter((term) => !isCommon(term));
    const weighed = (telling.length > 0 ? telling : terms).map((term) => {
      const found = counts.get(term) ?? 0;
      return { index: termIndex(term), found, worth: termWorth(head.chunks, found) };
    });
    const values = new Map(
      weighed.filter(({ found }) => found > 0).map(({ index, worth }) => [index, worth]),
    );
    if (values.size === 0) return null;
    return {
      vector: { indices: [...values.keys()], values: [...values.values()] },
      worth: weighed.reduce((sum, { worth }) => sum + worth, 0),
    };
  }

  return {
    weigh,
    async containing(terms: readonly string[], head: Head): Promise<Map<string, number>> {
      if (head.chunks === 0) return new Map();
      if (terms.length > MOST_TERMS) return probe(terms, head);
      const counts = await containing(terms, head);
      return new Map(terms.flatMap((term) => (counts.get(term) ? [[term, counts.get(term) ?? 0]] : [])));
    },
  };
}
