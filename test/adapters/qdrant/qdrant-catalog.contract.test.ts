import { describe } from 'vitest';
import { describeChunkStore } from '../../contracts/chunk-store.contract.ts';
import { createTemporaryCatalog, getTestQdrant } from '../../support/qdrant-server.ts';

const server = await getTestQdrant();

describe.skipIf(server === null)('on a real server', () => {
  describeChunkStore('Qdrant', async () => {
    if (server === null) throw new Error('there is no server');
    return createTemporaryCatalog(server);
  });
});
