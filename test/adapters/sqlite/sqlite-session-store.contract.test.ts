import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSqliteSessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { describeSessionStore } from '../../contracts/session-store.contract.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

describeSessionStore('SQLite', async () => {
  const path = join(await createTemporaryDirectory(), 'data', 'sessions.sqlite');
  return {
    open() {
      const store = createSqliteSessionStore(path);
      onTestFinished(() => store.close());
      return store;
    },
  };
});
