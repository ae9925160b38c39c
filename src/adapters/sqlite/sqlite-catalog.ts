import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { assertSameEmbedder, type CollectionIdentity } from '../../domain/collection-identity.ts';
import type { CollectionCatalog } from '../../ports/chunk-store.ts';
import { openDatabase, storeFault, transaction } from './open-database.ts';
import { createSchema, hasSchema } from './schema.ts';
import { createSqliteChunkStore } from './sqlite-chunk-store.ts';

const SUFFIX = '.sqlite';

/** Collections as files of one directory, `<name>.sqlite` each. */
export function createSqliteCatalog(directory: string): CollectionCatalog {
  const pathOf = (name: string) => join(directory, `${name}${SUFFIX}`);

  function openChecked(path: string): { database: DatabaseSync; ready: boolean } {
    const database = openDatabase(path);
    try {
      return { database, ready: hasSchema(database, path) };
    } catch (error) {
      database.close();
      throw storeFault(error, path);
    }
  }

  return {
    async list() {
      const files = await readdir(directory).catch(() => []);
      return files
        .filter((file) => file.endsWith(SUFFIX))
        .map((file) => file.slice(0, -SUFFIX.length))
        .sort();
    },

    async open(name) {
      const path = pathOf(name);
      if (!existsSync(path)) return null;
      const { database, ready } = openChecked(path);
      if (ready) return createSqliteChunkStore(database, name, path);
      database.close();
      return null;
    },

    async openOrCreate(name, identity) {
      const path = pathOf(name);
      const { database } = openChecked(path);
      try {
        // Looked at again with the lock held: two processes may be making it at once.
        transaction(database, () => {
          if (!hasSchema(database, path)) create(database, identity);
        });
        const store = createSqliteChunkStore(database, name, path);
        assertSameEmbedder(name, store.identity, identity);
        return store;
      } catch (error) {
        database.close();
        throw storeFault(error, path);
      }
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

function create(database: DatabaseSync, identity: CollectionIdentity): void {
  createSchema(database);
  const insert = database.prepare('INSERT INTO meta (key, value) VALUES (?, ?)');
  const now = new Date().toISOString();
  insert.run('embedder', identity.embedder);
  insert.run('dimensions', String(identity.dimensions));
  insert.run('createdAt', now);
  insert.run('updatedAt', now);
}
