import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createQdrantCatalog } from '../../../src/adapters/qdrant/qdrant-catalog.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import { sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { type QdrantCluster, startQdrantCluster } from '../../support/qdrant-cluster.ts';
import { startOrSkip } from '../../support/qdrant-server.ts';

const DIMENSIONS = 16;
const IDENTITY = { embedder: 'test:cluster', dimensions: DIMENSIONS };
const CHUNKS = 5;

const cluster = (await startOrSkip(() => startQdrantCluster(3))) as QdrantCluster;
afterAll(() => cluster?.stop());

function documentOf(number: number) {
  const chunks = Array.from({ length: CHUNKS }, (_, index) => `zebra document${number} part${index}`);
  return sampleDocument(`d${number}`, DIMENSIONS, { chunks });
}

/** Writes one document at a time, with retries, and adds acknowledged ones to `written`. */
async function writeDocuments(store: ChunkStore, from: number, to: number, written: number[]): Promise<void> {
  for (let number = from; number < to; number += 1) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await store.write([documentOf(number)]);
        break;
      } catch (error) {
        if (attempt === 5) throw error;
      }
    }
    written.push(number);
  }
}

/** Searches for each document by a word that only it has, and by vector. */
async function expectFound(store: ChunkStore, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    const text = `document${number}`;
    const vector = vectorOf(`zebra document${number} part3`, DIMENSIONS);
    const byWord = await store.search({ text, vector: null, limit: 100, filter: {} });
    const found = byWord.map(({ chunk }) => chunk.text).sort();
    expect(found).toEqual(documentOf(number).chunks.map((chunk) => chunk.text));
    const [best] = await store.search({ text, vector, limit: 5, filter: {} });
    expect(best?.chunk.text).toBe(`zebra document${number} part3`);
  }
}

test.skipIf(cluster === null)(
  'a cluster keeps acknowledged writes and answers while a node is down',
  async () => {
    const [first, second, third] = cluster.nodes as [
      QdrantCluster['nodes'][0],
      QdrantCluster['nodes'][0],
      QdrantCluster['nodes'][0],
    ];
    const storage = { shardNumber: 6, replicationFactor: 2 };
    const store = await createQdrantCatalog({ url: first.url, ...storage }).openOrCreate('book', IDENTITY);
    const written: number[] = [];
    await writeDocuments(store, 0, 6, written);
    await expectFound(store, [0, 5]);

    // A node is killed while documents are written.
    const writing = writeDocuments(store, 6, 18, written);
    await delay(150);
    await third.kill();
    await writing;
    await expectFound(store, written);
    expect(await store.count({})).toBe(18 * CHUNKS);

    // It restarts and catches up, then another one is killed during searches.
    await third.restart();
    await cluster.waitUntilReplicated('book');
    await cluster.waitUntilReplicated('book__documents');
    let killed = false;
    const killing = delay(100).then(async () => {
      await second.kill();
      killed = true;
    });
    for (let rounds = 0; !killed || rounds < 6; rounds += 1) await expectFound(store, [rounds % 18, 17]);
    await killing;
    await writeDocuments(store, 0, 2, []);

    // Each node answers from its own data.
    await second.restart();
    await cluster.waitUntilReplicated('book');
    await cluster.waitUntilReplicated('book__documents');
    for (const node of cluster.nodes) {
      const view = (await createQdrantCatalog({ url: node.url }).open('book')) as ChunkStore;
      expect(await view.info()).toMatchObject({ documents: 18, chunks: 18 * CHUNKS });
      await expectFound(view, [0, 1, 9, 17]);
      expect(await view.check()).toEqual([]);
    }
    await store.settle();
    expect(await store.check()).toEqual([]);
  },
);
