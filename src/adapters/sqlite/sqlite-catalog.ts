import { existsSync, mkdirSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertSameEmbedder } from '../../domain/collection-identity.ts';
import type { CollectionCatalog } from '../../ports/chunk-store.ts';
import { COLLECTION_FORMAT, createCollectionFile } from './collection-file.ts';
import { ensureFileFormat, withDatabase } from './database.ts';
import { createSqliteChunkStore } from './sqlite-chunk-store.ts';
import { toSqliteError } from './sqlite-error.ts';

const SUFFIX = '.sqlite';

/** Collections as files `<name>.sqlite` in one directory. `busyTimeoutMs` limits waiting for other processes. */
export function createSqliteCatalog(
  directory: string,
  { busyTimeoutMs = 30_000 }: { busyTimeoutMs?: number } = {},
): CollectionCatalog {
  async function onFile<T>(name: string, work: (path: string) => T): Promise<Awaited<T>> {
    const path = join(directory, `${name}${SUFFIX}`);
    try {
      return await work(path);
    } catch (error) {
      throw toSqliteError(error, path);
    }
  }

  return {
    list: () =>
      onFile('*', async () => {
        const files = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return [];
          throw error;
        });
        return (
          files
            // Creating a collection was interrupted if its file is empty.
            .filter((file) => file.endsWith(SUFFIX) && statSync(join(directory, file)).size > 0)
            .map((file) => file.slice(0, -SUFFIX.length))
            .sort()
        );
      }),

    open: (name) =>
      onFile(name, (path) => {
        if (!existsSync(path)) return null;
        return withDatabase(path, busyTimeoutMs, (database) => {
          if (ensureFileFormat(database, path, COLLECTION_FORMAT))
            return createSqliteChunkStore(database, name, path);
          database.close();
          return null;
        });
      }),

    openOrCreate: (name, identity) =>
      onFile(name, (path) => {
        mkdirSync(dirname(path), { recursive: true });
        return withDatabase(path, busyTimeoutMs, (database) => {
          if (!ensureFileFormat(database, path, COLLECTION_FORMAT)) {
            createCollectionFile(database, path, identity, busyTimeoutMs);
          }
          const store = createSqliteChunkStore(database, name, path);
          assertSameEmbedder(name, store.identity, identity);
          return store;
        });
      }),

    delete: (name) =>
      onFile(name, async (path) => {
        if (!existsSync(path)) return false;
        for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
        return true;
      }),
  };
}
