import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { IngestReport, QueryReport, StoreLocation, StoreTask } from '../children/stores.ts';
import { diskMb, measureInterleaved, measureMs, median, withTemporaryDirectory } from '../support/measure.ts';
import { waitUntilIndexed, withQdrant } from '../support/qdrant.ts';
import {
  type BenchmarkRow,
  createRow,
  describeMachine,
  type MachineInfo,
  writeResults,
} from '../support/results.ts';
import { renderStoresPlot, type StorePoint } from './stores-plot.ts';

const SIZES = [1000, 10_000, 100_000];
const QUERIES = 120;
/** Each round is a new process, and the stores alternate. */
const ROUNDS = 3;
const CHILD = fileURLToPath(new URL('../children/stores.ts', import.meta.url));
const PLOT = fileURLToPath(new URL('../../docs/stores.svg', import.meta.url));

/** Compares the embedded store with a Qdrant server at several sizes, and writes docs/stores.svg. */
export async function benchStores(): Promise<BenchmarkRow[]> {
  const points: StorePoint[] = [];
  for (const size of SIZES) {
    console.error(`  ${size} chunks ...`);
    points.push(...(await measureAt(size)));
    // Written after each size, because the largest takes long.
    await writeResults('stores.json', points);
    await writeFile(PLOT, renderStoresPlot(points, captionOf(describeMachine())));
  }
  return points.flatMap(toRows);
}

function captionOf({ cores, load }: MachineInfo): string {
  return `${cores} cores, load ${load.toFixed(0)}; median of ${ROUNDS} processes`;
}

function measureAt(chunks: number): Promise<StorePoint[]> {
  return withTemporaryDirectory((directory) =>
    withQdrant(async ({ url, pid }, storage) => {
      const embedded = { directory };
      const server = { url };
      const ingest = (store: StoreLocation) =>
        runInChild<IngestReport>({ task: 'ingest', store, chunks, queries: QUERIES });
      const sqlite = await ingest(embedded);
      const qdrant = await ingest(server);
      const indexingMs = await measureMs(() => waitUntilIndexed(`${url}/collections/synthetic`));
      const { queries } = sqlite;

      const reports: Record<'sqlite' | 'qdrant', QueryReport[]> = { sqlite: [], qdrant: [] };
      const ask = (name: 'sqlite' | 'qdrant', store: StoreLocation, serverPid: number | null) => async () => {
        reports[name].push(await runInChild<QueryReport>({ task: 'query', store, queries, serverPid }));
        return 0;
      };
      await measureInterleaved(ROUNDS, {
        sqlite: ask('sqlite', embedded, null),
        qdrant: ask('qdrant', server, pid),
      });
      return [
        toStorePoint('SQLite file', chunks, sqlite, reports.sqlite, {
          indexingSeconds: null,
          diskMb: diskMb(directory),
        }),
        toStorePoint('Qdrant server', chunks, qdrant, reports.qdrant, {
          indexingSeconds: indexingMs / 1000,
          diskMb: diskMb(storage),
        }),
      ];
    }),
  );
}

function toStorePoint(
  store: StorePoint['store'],
  chunks: number,
  { chunksPerSecond }: IngestReport,
  reports: readonly QueryReport[],
  { indexingSeconds, diskMb }: Pick<StorePoint, 'indexingSeconds' | 'diskMb'>,
): StorePoint {
  const medianOf = (key: keyof QueryReport) => median(reports.map((report) => report[key]));
  return {
    store,
    chunks,
    chunksPerSecond,
    indexingSeconds,
    coldMs: medianOf('coldMs'),
    p50: medianOf('p50'),
    p95: medianOf('p95'),
    rerankP50: medianOf('rerankP50'),
    rerankP95: medianOf('rerankP95'),
    rerankCpuMs: medianOf('rerankCpuMs'),
    cpuMs: medianOf('cpuMs'),
    memoryMb: medianOf('memoryMb'),
    diskMb,
  };
}

function toRows(point: StorePoint): BenchmarkRow[] {
  const { store, chunks, indexingSeconds } = point;
  const name = (what: string) => `stores: ${store}, ${chunks} chunks, ${what}`;
  return [
    createRow(name('ingest with given vectors'), point.chunksPerSecond, 'chunks/s'),
    ...(indexingSeconds === null ? [] : [createRow(name('indexing after the ingest'), indexingSeconds, 's')]),
    createRow(name('first search of a process, with opening'), point.coldMs, 'ms'),
    createRow(name('hybrid search p50'), point.p50, 'ms'),
    createRow(name('hybrid search p95'), point.p95, 'ms'),
    createRow(name('hybrid search and rerank p50'), point.rerankP50, 'ms'),
    createRow(name('hybrid search and rerank p95'), point.rerankP95, 'ms'),
    createRow(name('CPU time per hybrid search'), point.cpuMs, 'ms'),
    createRow(name('CPU time per hybrid search and rerank'), point.rerankCpuMs, 'ms'),
    createRow(name('memory'), point.memoryMb, 'MB'),
    createRow(name('disk'), point.diskMb, 'MB'),
  ];
}

async function runInChild<T>(task: StoreTask): Promise<T> {
  const child = spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(task));
  return JSON.parse(await text(child.stdout)) as T;
}
