import type { Schemas } from '@qdrant/js-client-rest';
import { wrongDimensionsError } from '../../domain/collection-identity.ts';
import { isEmptyFilter } from '../../domain/query.ts';
import {
  lexicalScore,
  MAX_QUERY_TERMS,
  MIN_CANDIDATES,
  type RankedId,
  rankHits,
  type ScoredId,
  weighTerms,
} from '../../domain/rank-hits.ts';
import type { StoreSearchRequest, WeightedWords, WordScores } from '../../ports/chunk-store.ts';
import { WORD_DIMENSIONS } from '../../ports/embedder.ts';
import { queryTerms } from '../../text/terms.ts';
import { countPoints, type PointCollection } from './point-requests.ts';
import {
  DENSE_VECTOR,
  matchAny,
  PATH_VECTOR,
  type QdrantFilter,
  TERMS_VECTOR,
  toPointFilter,
  WORDS_VECTOR,
  withoutVectorFilter,
} from './qdrant-points.ts';
import { hashTerm } from './sparse-terms.ts';

const MAX_CACHED_COUNTS = 10_000;
/** The value that stands for 1 in a word vector. */
const UNIT = 127;

interface SearchOptions {
  chunks: PointCollection;
  counts: ChunkCounts;
  dimensions: number;
  /** Each returns its own candidates. */
  shards: number;
}

type Query = Schemas['QueryRequest'];

/** Searches text and vectors in one request and ranks the ids of the candidates by the domain's formula. */
export function createPointSearch({ chunks, counts, dimensions, shards }: SearchOptions) {
  async function runQueries(searches: Query[]): Promise<ScoredId<string>[][]> {
    if (searches.length === 0) return [];
    const answers = await chunks.connection.call(chunks.name, (client) =>
      client.queryBatch(chunks.collection, { searches }),
    );
    return answers.map(({ points }) =>
      points.map(({ id, score }) => ({ id: String(id), score })).sort(byScore),
    );
  }

  return async ({
    text,
    vector,
    baseline,
    limit,
    filter,
  }: StoreSearchRequest): Promise<RankedId<string>[]> => {
    if (vector !== null && vector.length !== dimensions)
      throw wrongDimensionsError(vector.length, dimensions);
    const candidates = Math.max(MIN_CANDIDATES, limit);
    const conditions = toPointFilter(filter);
    const words = text === null ? null : await createTermQuery(text, counts);
    const lexical: Query[] =
      words === null
        ? []
        : [{ query: words.vector, using: TERMS_VECTOR, filter: conditions, limit: candidates }];
    const dense: Query[] = [];
    if (vector !== null) {
      const query = Array.from(vector);
      const params = {
        hnsw_ef: Math.max(128, candidates),
        quantization: { rescore: true, oversampling: 2 },
        acorn: { enable: !isEmptyFilter(filter) },
      };
      const nearest: Query = { query, using: DENSE_VECTOR, filter: conditions, params, limit: candidates };
      dense.push(
        words === null
          ? nearest
          : // Also scores the candidates that only the text search found.
            { prefetch: [nearest, ...lexical], query, using: DENSE_VECTOR, limit: 2 * candidates * shards },
      );
    }
    const [first = [], second = []] = await runQueries([...lexical, ...dense]);
    const shares =
      words && first.map(({ id, score }) => ({ id, score: lexicalScore(score / words.maxScore) }));
    return rankHits(
      text === null ? null : (shares ?? []),
      vector === null ? null : words === null ? first : second,
      Number.POSITIVE_INFINITY,
      baseline,
    );
  };
}

/**
 * The server computes the sum of the best products: with the words scaled by their share of the weight, it is the weighted
 * mean. A chunk of a document that is being replaced may have the scores of either version.
 */
export async function scorePointWords(
  { connection, collection, name }: PointCollection,
  { vectors, weights }: WeightedWords,
  chunkIds: readonly string[],
): Promise<Map<string, WordScores>> {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const query = weights.flatMap((weight, word) => {
    const own = vectors.subarray(word * WORD_DIMENSIONS, (word + 1) * WORD_DIMENSIONS);
    return weight > 0 ? [Array.from(own, (value) => (value * weight) / total / UNIT)] : [];
  });
  const scores = new Map<string, WordScores>();
  if (query.length === 0) return scores;
  const [texts, paths] = await connection.call(name, (client) =>
    client.queryBatch(collection, {
      searches: [WORDS_VECTOR, PATH_VECTOR].map((using) => ({
        query,
        using,
        filter: { must: [matchAny('chunkId', chunkIds)] },
        params: { exact: true },
        limit: 2 * chunkIds.length,
        with_payload: ['chunkId'],
      })),
    }),
  );
  const pathScores = new Map(paths?.points.map(({ id, score }) => [id, score]));
  for (const { id, score, payload } of texts?.points ?? []) {
    scores.set(String(payload?.chunkId), { text: score / UNIT, path: (pathScores.get(id) ?? 0) / UNIT });
  }
  return scores;
}

/** Shards return equal scores in any order. */
function byScore(a: ScoredId<string>, b: ScoredId<string>): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}

/** Null if no chunk has any of the query's terms. `maxScore` is as in `weighTerms`. */
async function createTermQuery(query: string, counts: ChunkCounts) {
  const terms = queryTerms(query).slice(0, MAX_QUERY_TERMS);
  if (terms.length === 0) return null;
  const [total, occurring] = await Promise.all([counts.all(), counts.ofTerms(terms)]);
  const { weights, maxScore } = weighTerms(terms, occurring, total);
  const values = new Map(Array.from(weights, ([term, weight]) => [hashTerm(term), weight]));
  if (values.size === 0) return null;
  return { vector: { indices: [...values.keys()], values: [...values.values()] }, maxScore };
}

/** Counts of chunks that are kept until the collection changes. Chunks of a document being replaced may count twice. */
export class ChunkCounts {
  /** The change that the counts were taken after. */
  changeId: string;
  readonly #chunks: PointCollection;
  #counts = new Map<string, number>();

  constructor(chunks: PointCollection, changeId: string) {
    this.#chunks = chunks;
    this.changeId = changeId;
  }

  all(): Promise<number> {
    return this.#count(null);
  }

  withoutVector(): Promise<number> {
    return this.#count(withoutVectorFilter(DENSE_VECTOR));
  }

  /** The terms that occur, with the number of chunks that have them. Only the first `MAX_QUERY_TERMS` are counted. */
  async ofTerms(terms: readonly string[]): Promise<Map<string, number>> {
    const entries = terms.slice(0, MAX_QUERY_TERMS).map(async (term): Promise<[string, number]> => {
      const filter = { must: [{ key: 'terms', match: { value: hashTerm(term) } }] };
      return [term, await this.#count(filter)];
    });
    return new Map((await Promise.all(entries)).filter(([, count]) => count > 0));
  }

  /** Forgets the counts unless they were taken after this change. */
  update(changeId: string): void {
    if (changeId === this.changeId && this.#counts.size < MAX_CACHED_COUNTS) return;
    this.changeId = changeId;
    this.#counts = new Map();
  }

  async #count(filter: QdrantFilter | null): Promise<number> {
    // A count that is finished after an update goes into the old map.
    const counts = this.#counts;
    const key = JSON.stringify(filter);
    const count = counts.get(key) ?? (await countPoints(this.#chunks, filter));
    counts.set(key, count);
    return count;
  }
}
