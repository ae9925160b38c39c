import { assertSameEmbedder } from '../domain/collection-identity.ts';
import { ingestAdvice } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore, CollectionCatalog, StoredChunk } from '../ports/chunk-store.ts';

/** Between the names of collections that are searched together; no name contains it. */
const SEPARATOR = ',';

/** Opens a collection, or several by their names with commas. Throws `invalid_input` if one of several is missing. */
export async function openJoinedCollections(
  catalog: Pick<CollectionCatalog, 'open'>,
  name: string,
): Promise<ChunkStore | null> {
  if (!name.includes(SEPARATOR)) return catalog.open(name);
  const stores: ChunkStore[] = [];
  try {
    for (const each of new Set(name.split(SEPARATOR))) {
      const store = await catalog.open(each);
      if (store === null)
        throw new AppError('invalid_input', `Unknown collection "${each}".`, {
          hint: ingestAdvice('Create', each),
        });
      stores.push(store);
      assertSameEmbedder(each, store.identity, stores[0]?.identity ?? store.identity);
    }
  } catch (error) {
    for (const store of stores) await store.close();
    throw error;
  }
  return joinStores(stores);
}

/** Throws `invalid_input` for the names of several collections. */
export function assertOneCollection(name: string): void {
  if (name.includes(SEPARATOR))
    throw new AppError('invalid_input', `Documents are ingested into one collection, not into ${name}.`);
}

/** A read-only store over several. Titles name the collection, and chunk ids begin with it: two may have the same file. */
function joinStores(stores: readonly ChunkStore[]): ChunkStore {
  const [first] = stores as [ChunkStore];
  const prefixOf = ({ name }: ChunkStore) => `${name}:`;
  const toJoined = <Chunk extends StoredChunk>(store: ChunkStore, chunk: Chunk): Chunk => ({
    ...chunk,
    chunkId: prefixOf(store) + chunk.chunkId,
    title: `${chunk.title} (${store.name})`,
  });
  const idsOf = (store: ChunkStore, chunkIds: readonly string[]) =>
    chunkIds.filter((id) => id.startsWith(prefixOf(store))).map((id) => id.slice(prefixOf(store).length));
  const all = async <T>(read: (store: ChunkStore) => Promise<readonly T[]>): Promise<T[]> =>
    (await Promise.all(stores.map(read))).flat();
  /** Values by chunk id. */
  const byChunkId = async <T>(
    chunkIds: readonly string[],
    read: (store: ChunkStore, ids: string[]) => Promise<Map<string, T>>,
  ): Promise<Map<string, T>> =>
    new Map(
      await all(async (store) =>
        Array.from(await read(store, idsOf(store, chunkIds)), ([id, value]): [string, T] => [
          prefixOf(store) + id,
          value,
        ]),
      ),
    );
  const refuse = async (): Promise<never> => {
    throw new AppError('invalid_input', 'Collections that are searched together cannot be changed.');
  };
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

  return {
    name: stores.map(({ name }) => name).join(SEPARATOR),
    identity: first.identity,
    async info() {
      const infos = await Promise.all(stores.map((store) => store.info()));
      const modules = Map.groupBy(
        infos.flatMap((info) => info.modules),
        ({ name }) => name,
      );
      return {
        ...first.identity,
        name: infos.map(({ name }) => name).join(SEPARATOR),
        documents: sum(infos.map(({ documents }) => documents)),
        chunks: sum(infos.map(({ chunks }) => chunks)),
        withoutVector: sum(infos.map(({ withoutVector }) => withoutVector)),
        bytes: sum(infos.map(({ bytes }) => bytes)),
        createdAt: infos.map(({ createdAt }) => createdAt).sort()[0] ?? '',
        updatedAt:
          infos
            .map(({ updatedAt }) => updatedAt)
            .sort()
            .at(-1) ?? '',
        modules: Array.from(modules, ([name, parts]) => ({
          name,
          chunks: sum(parts.map(({ chunks }) => chunks)),
        })),
      };
    },
    async *documents() {
      for (const store of stores) yield* store.documents();
    },
    read: (uris) => all((store) => store.read(uris)),
    vectors: async (hashes) => new Map(await all(async (store) => [...(await store.vectors(hashes))])),
    wordVectors: (chunkIds) => byChunkId(chunkIds, (store, ids) => store.wordVectors(ids)),
    unembedded: async () => [],
    withoutVector: async () => sum(await Promise.all(stores.map((store) => store.withoutVector()))),
    addVectors: refuse,
    write: refuse,
    remove: refuse,
    async search(request) {
      const hits = await all(async (store) =>
        (await store.search(request)).map((hit) => ({ ...hit, chunk: toJoined(store, hit.chunk) })),
      );
      return hits.sort((a, b) => b.fusedScore - a.fusedScore).slice(0, request.limit);
    },
    async containing(terms) {
      const counts = await Promise.all(stores.map((store) => store.containing?.(terms)));
      return new Map(terms.map((term) => [term, sum(counts.map((count) => count?.get(term) ?? 0))]));
    },
    count: async (filter) => sum(await Promise.all(stores.map((store) => store.count(filter)))),
    async chunks(chunkIds) {
      const found = await all(async (store) =>
        (await store.chunks(idsOf(store, chunkIds))).map((chunk) => toJoined(store, chunk)),
      );
      return chunkIds.flatMap((id) => found.find(({ chunkId }) => chunkId === id) ?? []);
    },
    neighbours: (chunkId, before, after) =>
      all(async (store) => {
        const [id] = idsOf(store, [chunkId]);
        if (id === undefined) return [];
        return (await store.neighbours(id, before, after)).map((chunk) => toJoined(store, chunk));
      }),
    settle: async () => {},
    check: () => all((store) => store.check()),
    close: async () => void (await Promise.all(stores.map((store) => store.close()))),
  };
}
