import { MAX_QUERY_TERMS } from '../../domain/rank-hits.ts';
import { countPoints, type PointCollection } from './point-requests.ts';
import { type QdrantFilter, withoutVectorFilter } from './qdrant-points.ts';
import { hashTerm } from './sparse-terms.ts';

const MAX_CACHED_COUNTS = 10_000;

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
    return this.#count(withoutVectorFilter());
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
