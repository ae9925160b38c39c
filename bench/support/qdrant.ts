import { join } from 'node:path';
import { type QdrantProcess, startQdrant } from '../../test/support/qdrant-server.ts';
import { withTemporaryDirectory } from './measure.ts';

/** A Qdrant server of the benchmark's own, with its data on disk where the embedded store has its own. */
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
