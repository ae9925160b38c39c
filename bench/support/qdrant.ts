import { join } from 'node:path';
import { type QdrantProcess, startQdrant } from '../../test/support/qdrant-server.ts';
import { withTemporaryDirectory } from './measure.ts';

/** Runs `work` with a Qdrant server whose data is on disk, like that of the embedded store. */
export function withQdrant<T>(work: (server: QdrantProcess) => Promise<T>): Promise<T> {
  return withTemporaryDirectory(async (directory) => {
    const server = await startQdrant({ directory: join(directory, 'qdrant') });
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  });
}
