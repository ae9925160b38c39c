import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type QdrantProcess, startQdrant } from '../../test/support/qdrant-server.ts';
import { withTemporaryDirectory } from './measure.ts';

/** Runs `work` with a Qdrant server whose data is on disk, like that of the embedded store. */
export function withQdrant<T>(work: (server: QdrantProcess, storage: string) => Promise<T>): Promise<T> {
  return withTemporaryDirectory(async (directory) => {
    const storage = join(directory, 'qdrant');
    const server = await startQdrant({ directory: storage });
    try {
      return await work(server, storage);
    } finally {
      await server.stop();
    }
  });
}

/** Qdrant builds its index after accepting the points and scans them until then. */
export async function waitUntilIndexed(collection: string): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    const response = await fetch(collection);
    const { result } = (await response.json()) as { result: { status: string } };
    quiet = result.status === 'green' ? quiet + 1 : 0;
    await delay(500);
  }
}
