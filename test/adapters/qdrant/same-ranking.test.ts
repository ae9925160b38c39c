import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createDocumentParser } from '../../../src/adapters/documents/parse-document.ts';
import { createMiniLmEmbedder } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSource } from '../../../src/app/index-documents.ts';
import { ingest } from '../../../src/ingest/ingest.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import type { Embedder } from '../../../src/ports/embedder.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { copyHomeWithBook } from '../../support/prepared-home.ts';
import { serverForTests, temporaryCatalog } from '../../support/qdrant-server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const BOOK = fileURLToPath(new URL('../../../fixtures/book', import.meta.url));

const MAX_SCORE_DIFFERENCE = 0.05;

const QUESTIONS = [
  'How do I create a node in ROS 2?',
  'What is the difference between a topic and a service?',
  'rclpy.spin_once',
  'How is quality of service configured for a publisher?',
  'When should I use an action instead of a service?',
  'How do I write a launch file?',
  'colcon build --symlink-install',
  'What does a URDF file describe?',
  'How does Gazebo simulate physics?',
  'Which sensors can be simulated?',
  'SimulationApp',
  'What is domain randomization good for?',
  'How is synthetic data generated in Isaac Sim?',
  'What is a vision-language-action model?',
  'How does a robot understand spoken commands?',
  'How do I plan a path with Nav2?',
  'What is a digital twin?',
  'transform frames tf2',
  'Why does the robot fall over?',
  'cheapest way to train a policy',
];

/** Reuses the vectors of the other store. */
async function ingestBook(into: ChunkStore, from: ChunkStore, embedder: Embedder): Promise<void> {
  const source = await createSource(BOOK, { files: { cwd: BOOK }, web: {} });
  await ingest(
    [source],
    {
      store: { ...into, vectors: from.vectors },
      parse: createDocumentParser(),
      embedder: async () => embedder,
      stillExists: async () => true,
    },
    { prune: false },
  );
}

const server = await serverForTests();

test.skipIf(server === null)('the embedded store and Qdrant rank the sample book alike', async () => {
  if (server === null) throw new Error('there is no server');
  const home = await temporaryDirectory();
  await copyHomeWithBook(home);
  const sqlite = await createSqliteCatalog(join(home, 'collections')).open('sample_book');
  if (sqlite === null) throw new Error('there is no book');
  const embedder = await createMiniLmEmbedder({ location: modelLocation() });
  const qdrant = await temporaryCatalog(server).openOrCreate('book', sqlite.identity);
  await ingestBook(qdrant, sqlite, embedder);
  expect(await qdrant.count({})).toBeGreaterThan(100);
  let shared = 0;
  let compared = 0;
  for (const text of QUESTIONS) {
    const vector = await embedder.embedQuery(text);
    const rank = (request: { text: string | null; vector: Float32Array | null }) =>
      Promise.all([sqlite, qdrant].map((store) => store.search({ ...request, limit: 5, filter: {} })));
    const [exact = [], found = []] = await rank({ text: null, vector });
    expect(found.map(({ chunk }) => chunk)).toEqual(exact.map(({ chunk }) => chunk));
    for (const request of [
      { text, vector },
      { text, vector: null },
    ]) {
      const [expected = [], hits = []] = await rank(request);
      expect(hits).toHaveLength(expected.length);
      for (const { chunk, score } of hits) {
        const same = expected.find((hit) => hit.chunk.chunkId === chunk.chunkId);
        compared += 1;
        if (same === undefined) continue;
        shared += 1;
        expect(Math.abs(score - same.score)).toBeLessThan(MAX_SCORE_DIFFERENCE);
      }
    }
  }
  // The text scores differ a little: Qdrant's term weights are for a fixed average length.
  expect(shared / compared).toBeGreaterThan(0.9);
  expect(await Array.fromAsync(qdrant.documents())).toEqual(await Array.fromAsync(sqlite.documents()));
  for (const store of [sqlite, qdrant]) await store.close();
  await embedder.close();
});
