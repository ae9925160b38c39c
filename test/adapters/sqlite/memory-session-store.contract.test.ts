import { createMemorySessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { describeSessionStore } from '../../contracts/session-store.contract.ts';

describeSessionStore('memory', async () => {
  const store = createMemorySessionStore();
  return { open: () => store };
});
