import type { Schemas } from '@qdrant/js-client-rest';
import { AppError } from '../../domain/app-error.ts';
import { isEmptyFilter } from '../../domain/filter.ts';
import { lexicalScore } from '../../domain/fusion.ts';
import { type RankedId, rankHits, type Scored } from '../../domain/rank-hits.ts';
import type { StoreSearch } from '../../ports/chunk-store.ts';
import type { Head } from './collection-head.ts';
import type { Connection } from './connection.ts';
import { filterConditions } from './filter-conditions.ts';
import { DENSE, TERMS } from './point-payload.ts';
import { createTermWeights, type LexicalQuery } from './term-weights.ts';
import { visibleAt } from './visibility.ts';

/** How many candidates each half of a search puts forward, at least; the embedded store does the same. */
const CANDIDATES = 100;

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
  const weigh = createTermWeights(options);

  async function ask(searches: Query[]): Promise<Scored<string>[][]> {
    if (searches.length === 0) return [];
    const answers = await connection.call(name, (client) => client.queryBatch(chunks, { searches }));
    return answers.map(({ points }) =>
      points.map(({ id, score }) => ({ id: String(id), score })).sort(byScore),
    );
  }

  return async ({ text, vector, limit, filter }: StoreSearch, head: Head): Promise<RankedId<string>[]> => {
    if (vector !== null && vector.length !== dimensions) throw wrongDimensions(vector.length, dimensions);
    const candidates = Math.max(CANDIDATES, limit);
    const visible = visibleAt(head.epoch, filterConditions(filter));
    const words = text === null ? null : await weigh(text, head);
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
    );
  };
}

/** Shards answer in any order where scores meet. */
function byScore(a: Scored<string>, b: Scored<string>): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}

function toShares(scored: readonly Scored<string>[], { worth }: LexicalQuery): Scored<string>[] {
  return scored.map(({ id, score }) => ({ id, score: lexicalScore(score / worth) }));
}

function wrongDimensions(given: number, dimensions: number): AppError {
  return new AppError(
    'configuration_error',
    `The query has ${given} dimensions, but the collection holds vectors of ${dimensions}.`,
    { hint: 'Search with the embedder that the collection was made with: citeloop collections show' },
  );
}
