import { existsSync, mkdirSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { assertSameEmbedder } from '../../domain/collection-identity.ts';
import type { CollectionCatalog } from '../../ports/chunk-store.ts';
import { openDatabase } from './database.ts';
import { createDatabase, hasSchema } from './schema.ts';
import { createSqliteChunkStore } from './sqlite-chunk-store.ts';
import { storeFault } from './store-fault.ts';

const SUFFIX = '.sqlite';

interface SqliteCatalogOptions {
  /** How long to wait for another process to finish its transaction. */
  busyTimeoutMs?: number;
}

/** Collections as files of one directory, `<name>.sqlite` each. */
export function createSqliteCatalog(
  directory: string,
  { busyTimeoutMs = 30_000 }: SqliteCatalogOptions = {},
): CollectionCatalog {
  const pathOf = (name: string) => join(directory, `${name}${SUFFIX}`);

  /** Opens the file and hands it to `use`, which closes it or passes it on; if that fails, it is closed here. */
  function withDatabase<T>(path: string, use: (database: DatabaseSync) => T): T {
    let database: DatabaseSync | undefined;
    try {
      database = openDatabase(path, busyTimeoutMs);
      return use(database);
    } catch (error) {
      if (database?.isOpen) database.close();
      throw storeFault(error, path);
    }
  }

  return {
    async list() {
      const files = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw storeFault(error, join(directory, '*'));
      });
      return (
        files
          // An empty file is what is left when making a collection was interrupted.
          .filter((file) => file.endsWith(SUFFIX) && statSync(join(directory, file)).size > 0)
          .map((file) => file.slice(0, -SUFFIX.length))
          .sort()
      );
    },

    async open(name) {
      const path = pathOf(name);
      if (!existsSync(path)) return null;
      return withDatabase(path, (database) => {
        if (hasSchema(database, path)) return createSqliteChunkStore(database, name, path);
        database.close();
        return null;
      });
    },

    async openOrCreate(name, identity) {
      const path = pathOf(name);
      try {
        mkdirSync(dirname(path), { recursive: true });
      } catch (error) {
        throw storeFault(error, path);
      }
      return withDatabase(path, (database) => {
        if (!hasSchema(database, path)) createDatabase(database, path, identity, busyTimeoutMs);
        const store = createSqliteChunkStore(database, name, path);
        assertSameEmbedder(name, store.identity, identity);
        return store;
      });
    },

    async delete(name) {
      const path = pathOf(name);
      if (!existsSync(path)) return false;
      try {
        for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
      } catch (error) {
        throw storeFault(error, path);
      }
      return true;
    },
  };
}
