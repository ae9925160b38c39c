import { readFileSync } from 'node:fs';
import { createQdrantCatalog } from '../../src/adapters/qdrant/qdrant-catalog.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createQuery } from '../../src/domain/query.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import { groupWrites } from '../speed/qdrant-upsert.ts';
import { cpuTimeMs, measureMs, median, percentile, residentMb } from '../support/measure.ts';
import {
  createSyntheticDocuments,
  createSyntheticRetriever,
  SYNTHETIC_IDENTITY,
  type SyntheticQuery,
} from '../support/synthetic.ts';

const NAME = 'synthetic';
const TOP_K = 10;
const WARM_UP = 20;
/** Content words per chunk that have a vector. */
const WORDS = 55;

export type StoreTask =
  | { task: 'ingest'; store: StoreLocation; chunks: number; queries: number }
  | {
      task: 'query';
      store: StoreLocation;
      queries: { text: string; vector: number[] }[];
      serverPid: number | null;
    };

/** The directory of the embedded store, or the URL of a Qdrant server. */
export type StoreLocation = { directory: string } | { url: string };

export interface IngestReport {
  /** Until everything is written and acknowledged. */
  chunksPerSecond: number;
  queries: { text: string; vector: number[] }[];
}

export interface QueryReport {
  /** Opening the collection and the first search of a new process. */
  coldMs: number;
  p50: number;
  p95: number;
  /** A search of the best 30 that are reranked by their words. */
  rerankP50: number;
  rerankP95: number;
  rerankCpuMs: number;
  /** CPU time per search, in this process and the server. */
  cpuMs: number;
  /** Resident memory of the process with the data: this one or the server. */
  memoryMb: number;
}

// One task per process, so that memory and caches are those of one store.
const task = JSON.parse(readFileSync(0, 'utf8')) as StoreTask;
console.log(JSON.stringify(task.task === 'ingest' ? await ingest(task) : await query(task)));

function createCatalog(place: StoreLocation) {
  // A long timeout, because a slow write is a result and not an error.
  if ('url' in place) return createQdrantCatalog({ url: place.url, timeoutMs: 300_000 });
  return createSqliteCatalog(place.directory);
}

async function ingest({
  store: place,
  chunks,
  queries: count,
}: StoreTask & { task: 'ingest' }): Promise<IngestReport> {
  const store = await createCatalog(place).openOrCreate(NAME, SYNTHETIC_IDENTITY);
  const { documents, queries } = await createSyntheticDocuments(chunks, count, WORDS);
  let writingMs = 0;
  // Generating the documents is not measured.
  for (const window of groupWrites(documents())) writingMs += await measureMs(() => store.write(window));
  writingMs += await measureMs(() => store.settle());
  await store.close();
  return {
    chunksPerSecond: chunks / (writingMs / 1000),
    queries: queries.map(({ text, vector }) => ({ text, vector: Array.from(vector) })),
  };
}

async function query({
  store: place,
  queries: given,
  serverPid,
}: StoreTask & { task: 'query' }): Promise<QueryReport> {
  const queries = given.map(({ text, vector }) => ({ text, vector: Float32Array.from(vector) }));
  const started = performance.now();
  const opened = (await createCatalog(place).open(NAME)) as ChunkStore;
  await search(opened, queries[0] as (typeof queries)[number]);
  const coldMs = performance.now() - started;
  const times: number[] = [];
  for (const each of queries.slice(0, WARM_UP)) await search(opened, each);
  const cpuBefore = cpuTimeMs(serverPid);
  for (const each of queries.slice(WARM_UP)) times.push(await measureMs(() => search(opened, each)));
  const cpuMs = (cpuTimeMs(serverPid) - cpuBefore) / times.length;
  const retriever = createSyntheticRetriever(opened, queries);
  const rerankTimes: number[] = [];
  const rerankBefore = cpuTimeMs(serverPid);
  for (const { text } of queries.slice(WARM_UP)) {
    rerankTimes.push(await measureMs(() => retriever.retrieve(createQuery({ text, topK: TOP_K }))));
  }
  const rerank = {
    rerankP50: median(rerankTimes),
    rerankP95: percentile(rerankTimes, 0.95),
    rerankCpuMs: (cpuTimeMs(serverPid) - rerankBefore) / rerankTimes.length,
  };
  const memoryMb = residentMb(serverPid ?? process.pid);
  await opened.close();
  return { coldMs, p50: median(times), p95: percentile(times, 0.95), cpuMs, ...rerank, memoryMb };
}

function search(store: ChunkStore, { text, vector }: Pick<SyntheticQuery, 'text' | 'vector'>) {
  return store.search({ text, vector, limit: TOP_K, filter: {} });
}
