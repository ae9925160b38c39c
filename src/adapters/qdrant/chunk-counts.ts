import { MOST_TERMS } from '../../domain/rank-hits.ts';
import { countPoints, type PointCollection } from './point-requests.ts';
import { TERMS_VECTOR, withoutVectorFilter } from './qdrant-points.ts';
import { hashTerm } from './sparse-terms.ts';

const MAX_CACHED_TERMS = 10_000;
/** With too many terms to count each, the chunks that match most of them are read instead. */
const SAMPLE_CHUNKS = 50;

/** Counts of chunks that are kept until the collection changes. Chunks of a document being replaced may count twice. */
export interface ChunkCounts {
  all(): Promise<number>;
  withoutVector(): Promise<number>;
  /** The terms that occur, with the number of chunks that have them. More than `MOST_TERMS` terms are sampled. */
  ofTerms(terms: readonly string[]): Promise<Map<string, number>>;
  /** The change that the counts were taken after. */
  readonly changeId: string;
  /** Forgets the counts unless they were taken after this change. */
  update(changeId: string): void;
}

export function createChunkCounts(chunks: PointCollection, initialChangeId: string): ChunkCounts {
  let changeId = initialChangeId;
  let all: Promise<number> | undefined;
  let unembedded: Promise<number> | undefined;
  let terms = new Map<string, number>();

  async function countTerms(wanted: readonly string[]): Promise<Map<string, number>> {
    if (terms.size > MAX_CACHED_TERMS) terms = new Map();
    const cache = terms;
    await Promise.all(
      wanted
        .filter((term) => !cache.has(term))
        .map(async (term) => {
          const filter = { must: [{ key: 'terms', match: { value: hashTerm(term) } }] };
          cache.set(term, await countPoints(chunks, filter));
        }),
    );
    return cache;
  }

  async function sampleTerms(wanted: readonly string[]): Promise<Map<string, number>> {
    const indices = [...new Set(wanted.map(hashTerm))];
    const { points } = await chunks.connection.call(chunks.name, (client) =>
      client.query(chunks.collection, {
        query: { indices, values: indices.map(() => 1) },
        using: TERMS_VECTOR,
        limit: SAMPLE_CHUNKS,
        with_payload: ['terms'],
      }),
    );
    const counts = new Map<number, number>();
    for (const { payload } of points) {
      for (const index of (payload?.terms ?? []) as number[]) counts.set(index, (counts.get(index) ?? 0) + 1);
    }
    return new Map(wanted.map((term) => [term, counts.get(hashTerm(term)) ?? 0]));
  }

  return {
    all: () => (all ??= countPoints(chunks, null)),
    withoutVector: () => (unembedded ??= countPoints(chunks, withoutVectorFilter())),
    async ofTerms(wanted) {
      const counts = wanted.length > MOST_TERMS ? await sampleTerms(wanted) : await countTerms(wanted);
      return new Map(
        wanted
          .map((term): [string, number] => [term, counts.get(term) ?? 0])
          .filter(([, count]) => count > 0),
      );
    },
    get changeId() {
      return changeId;
    },
    update(current) {
      if (current === changeId) return;
      changeId = current;
      all = undefined;
      unembedded = undefined;
      terms = new Map();
    },
  };
}
