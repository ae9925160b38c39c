import { createSqliteCatalog } from '../src/adapters/sqlite/sqlite-catalog.ts';
import type { ChunkStore } from '../src/ports/chunk-store.ts';
import { createSyntheticDocuments, SYNTHETIC_IDENTITY, type SyntheticQuery } from './synthetic-documents.ts';

export interface SyntheticCollection {
  store: ChunkStore;
  queries: SyntheticQuery[];
}

/** A collection of the wanted size, with text as natural and vectors as clustered as real ones. */
export async function createSyntheticCollection(
  directory: string,
  size: number,
  queryCount: number,
): Promise<SyntheticCollection> {
  const { documents, queries } = await createSyntheticDocuments(size, queryCount);
  const store = await createSqliteCatalog(directory).openOrCreate('synthetic', SYNTHETIC_IDENTITY);
  for (const write of documents()) await store.write([write]);
  await store.settle();
  return { store, queries };
}
