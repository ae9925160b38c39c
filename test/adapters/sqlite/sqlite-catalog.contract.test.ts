import { join } from 'node:path';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { describeChunkStore } from '../../contracts/chunk-store.contract.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

describeChunkStore('SQLite', async () =>
  createSqliteCatalog(join(await createTemporaryDirectory(), 'collections')),
);
