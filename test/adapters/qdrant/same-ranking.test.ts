import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createDocumentParser } from '../../../src/adapters/documents/parse-document.ts';
import { createMiniLmEmbedder } from '../../../src/adapters/onnx/minilm-embedder.ts';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { createDocumentSource } from '../../../src/app/index-documents.ts';
import { createQuery } from '../../../src/domain/query.ts';
import { ingestSources } from '../../../src/ingest/ingest.ts';
import type { ChunkStore, StoreHit } from '../../../src/ports/chunk-store.ts';
import type { Embedder } from '../../../src/ports/embedder.ts';
import { createRetriever, type RankedHit } from '../../../src/retrieval/create-retriever.ts';
import { withWordReranker } from '../../../src/retrieval/rerank.ts';
import { copyHomeWithBook } from '../../support/copy-home.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { createTemporaryCatalog, getTestQdrant } from '../../support/qdrant-server.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const BOOK = fileURLToPath(new URL('../../../fixtures/book', import.meta.url));

/** The server has single precision. */
const DECIMALS = 5;
const TOLERANCE = 1e-5;
/** Word scores have half precision. */
const RERANK_TOLERANCE = 3e-4;

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
  const source = await createDocumentSource(BOOK, { files: { cwd: BOOK }, web: {} });
  await ingestSources(
    [source],
    {
      store: { ...into, vectors: from.vectors },
      parse: createDocumentParser(),
      embedder: async () => embedder,
      stillExists: async () => true,
      hasWords: true,
    },
    { prune: false },
  );
}

const server = await getTestQdrant();

test.skipIf(server === null)('the embedded store and Qdrant rank the sample book alike', async () => {
  if (server === null) throw new Error('there is no server');
  const home = await createTemporaryDirectory();
  await copyHomeWithBook(home);
  const sqlite = await createSqliteCatalog(join(home, 'collections')).open('sample_book');
  if (sqlite === null) throw new Error('there is no book');
  const embedder = await createMiniLmEmbedder({ location: modelLocation() });
  const qdrant = await createTemporaryCatalog(server).openOrCreate('book', sqlite.identity);
  await ingestBook(qdrant, sqlite, embedder);
  expect(await qdrant.count({})).toBeGreaterThan(100);
  for (const text of QUESTIONS) {
    const vector = await embedder.embedQuery(text);
    for (const request of [
      { text, vector },
      { text, vector: null },
      { text: null, vector },
    ]) {
      const [expected, found] = await Promise.all(
        [sqlite, qdrant].map((store) => store.search({ ...request, limit: 6, filter: {} })),
      );
      expectSameRanking(found ?? [], expected ?? []);
    }
    const query = createQuery({ text, topK: 30 });
    const [expected, found] = await Promise.all(
      [sqlite, qdrant].map(async (store) => {
        const dependencies = { store, embedder: async () => embedder };
        const retriever = createRetriever({ ...dependencies, scoreThreshold: 0, mode: 'hybrid' });
        return (await withWordReranker(retriever, dependencies).retrieve(query)).hits;
      }),
    );
    expectSameReranking(found ?? [], expected ?? []);
  }
  expect(await Array.fromAsync(qdrant.documents())).toEqual(await Array.fromAsync(sqlite.documents()));
  for (const store of [sqlite, qdrant]) await store.close();
  await embedder.close();
});

/** Compares the best five, in any order where scores are equal; the sixth shows whether the fifth is tied. */
function expectSameRanking(found: readonly StoreHit[], expected: readonly StoreHit[]): void {
  const tied = (score: number) => expected.filter((hit) => Math.abs(hit.fusedScore - score) < TOLERANCE);
  found.slice(0, 5).forEach((hit, index) => {
    expect(hit.fusedScore).toBeCloseTo(expected[index]?.fusedScore ?? -1, DECIMALS);
    const same = tied(hit.fusedScore).find(({ chunk }) => chunk.chunkId === hit.chunk.chunkId);
    expect(hit.chunk).toEqual(same?.chunk);
    expect(hit.score).toBeCloseTo(same?.score ?? -1, DECIMALS);
  });
  expect(found).toHaveLength(expected.length);
}

/** Compares scores by chunk, and the order of all hits except where combined scores are equal. */
function expectSameReranking(found: readonly RankedHit[], expected: readonly RankedHit[]): void {
  const combined = ({ fusedScore, rerankScore }: RankedHit) => fusedScore + (rerankScore ?? Number.NaN);
  expect(found).toHaveLength(expected.length);
  const scores = new Map(expected.map((hit) => [hit.chunk.chunkId, combined(hit)]));
  found.forEach((hit, index) => {
    const score = combined(hit);
    const here = combined(expected[index] as RankedHit);
    expect(Math.abs(score - here)).toBeLessThan(RERANK_TOLERANCE);
    // Another chunk of the same score may be at the end of the candidates.
    expect(Math.abs(score - (scores.get(hit.chunk.chunkId) ?? score))).toBeLessThan(RERANK_TOLERANCE);
  });
  expect(found.some(({ rerankScore }) => (rerankScore ?? 0) > 0)).toBe(true);
}
