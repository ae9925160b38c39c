import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { assertSameEmbedder } from '../../domain/collection-identity.ts';
import type { ChunkStore, CollectionCatalog } from '../../ports/chunk-store.ts';
import { COLLECTION_FORMAT, createCollectionFile } from './collection-file.ts';
import { withDatabase } from './database.ts';
import { ensureFileFormat, removeBackups, type SqliteFileOptions } from './file-format.ts';
import { createSqliteChunkStore } from './sqlite-chunk-store.ts';
import { toSqliteError } from './sqlite-error.ts';

const SUFFIX = '.sqlite';

/** Collections as files `<name>.sqlite` in one directory. */
export function createSqliteCatalog(
  directory: string,
  { busyTimeoutMs = 30_000, onUpgrade }: Partial<SqliteFileOptions> = {},
): CollectionCatalog {
  const options = { busyTimeoutMs, onUpgrade };
  async function onFile<T>(name: string, work: (path: string) => T): Promise<Awaited<T>> {
    const path = join(directory, `${name}${SUFFIX}`);
    try {
      return await work(path);
    } catch (error) {
      throw toSqliteError(error, path);
    }
  }

  function openFile(name: string, path: string, access: 'read' | 'write'): ChunkStore {
    return withDatabase(path, busyTimeoutMs, (database) => {
      const ensure = (access: 'read' | 'write') =>
        ensureFileFormat(database, path, COLLECTION_FORMAT, access, options);
      ensure(access);
      return createSqliteChunkStore(database, name, path, () => ensure('write'));
    });
  }

  return {
    list: () =>
      onFile('*', async () => {
        const files = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return [];
          throw error;
        });
        return files.flatMap((file) => (file.endsWith(SUFFIX) ? [basename(file, SUFFIX)] : [])).sort();
      }),

    open: (name) => onFile(name, (path) => (existsSync(path) ? openFile(name, path, 'read') : null)),

    openOrCreate: (name, identity) =>
      onFile(name, (path) => {
        if (!existsSync(path)) createCollectionFile(path, identity);
        const store = openFile(name, path, 'write');
        try {
          assertSameEmbedder(name, store.identity, identity);
          return store;
        } catch (error) {
          void store.close();
          throw error;
        }
      }),

    delete: (name) =>
      onFile(name, async (path) => {
        if (!existsSync(path)) return false;
        for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
        removeBackups(path, COLLECTION_FORMAT);
        return true;
      }),
  };
}
