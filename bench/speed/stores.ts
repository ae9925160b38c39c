import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { IngestReport, QueryReport, StorePlace, StoreTask } from '../children/stores.ts';
import { interleaved, median, timed, withTemporaryDirectory } from '../support/measure.ts';
import { withQdrant } from '../support/qdrant.ts';
import { describeMachine, type Machine, type Row, row, writeResults } from '../support/results.ts';
import { type StorePoint, storesPlot } from './stores-plot.ts';

const SIZES = [1000, 10_000, 100_000];
const QUERIES = 120;
/** Each of them in a new process, the stores in turn. */
const ROUNDS = 3;
const CHILD = fileURLToPath(new URL('../children/stores.ts', import.meta.url));
const PLOT = fileURLToPath(new URL('../../docs/stores.svg', import.meta.url));

/** The embedded store and a Qdrant server side by side: what each costs at growing sizes. Draws docs/stores.svg. */
export async function benchStores(): Promise<Row[]> {
  const points: StorePoint[] = [];
  for (const size of SIZES) {
    console.error(`  ${size} chunks ...`);
    points.push(...(await measureAt(size)));
    // The largest takes long: what was measured before it is kept in any case.
    await writeResults('stores.json', points);
    await writeFile(PLOT, storesPlot(points, captionOf(describeMachine())));
  }
  return points.flatMap(rowsOf);
}

/** On a busy machine all of it takes longer: the load is part of the result. */
function captionOf({ cores, load }: Machine): string {
  return `${cores} cores, load ${load.toFixed(0)} from this and other work; median of ${ROUNDS} processes`;
}

function measureAt(chunks: number): Promise<StorePoint[]> {
  return withTemporaryDirectory((directory) =>
    withQdrant(async ({ url, pid }) => {
      const embedded = { directory };
      const server = { url };
      const ingest = (store: StorePlace) =>
        inChild<IngestReport>({ task: 'ingest', store, chunks, queries: QUERIES });
      const sqlite = await ingest(embedded);
      const qdrant = await ingest(server);
      const indexingMs = await timed(() => untilIndexed(url));
      const { queries } = sqlite;

      const reports: Record<'sqlite' | 'qdrant', QueryReport[]> = { sqlite: [], qdrant: [] };
      const ask = (name: 'sqlite' | 'qdrant', store: StorePlace, serverPid: number | null) => async () => {
        reports[name].push(await inChild<QueryReport>({ task: 'query', store, queries, serverPid }));
        return 0;
      };
      await interleaved(ROUNDS, {
        sqlite: ask('sqlite', embedded, null),
        qdrant: ask('qdrant', server, pid),
      });
      return [
        pointOf('SQLite file', chunks, sqlite, reports.sqlite, null),
        pointOf('Qdrant server', chunks, qdrant, reports.qdrant, indexingMs / 1000),
      ];
    }),
  );
}

function pointOf(
  store: StorePoint['store'],
  chunks: number,
  { chunksPerSecond }: IngestReport,
  reports: readonly QueryReport[],
  indexingSeconds: number | null,
): StorePoint {
  const of = (key: keyof QueryReport) => median(reports.map((report) => report[key]));
  return {
    store,
    chunks,
    chunksPerSecond,
    indexingSeconds,
    coldMs: of('coldMs'),
    p50: of('p50'),
    p95: of('p95'),
    cpuMs: of('cpuMs'),
    memoryMb: of('memoryMb'),
  };
}

function rowsOf(point: StorePoint): Row[] {
  const { store, chunks, indexingSeconds } = point;
  const name = (what: string) => `stores: ${store}, ${chunks} chunks, ${what}`;
  return [
    row(name('ingest with given vectors'), point.chunksPerSecond, 'chunks/s'),
    ...(indexingSeconds === null ? [] : [row(name('indexing after that'), indexingSeconds, 's')]),
    row(name('first search of a process, opening included'), point.coldMs, 'ms'),
    row(name('hybrid search p50'), point.p50, 'ms'),
    row(name('hybrid search p95'), point.p95, 'ms'),
    row(name('work of a core for a hybrid search'), point.cpuMs, 'ms'),
    row(name('memory'), point.memoryMb, 'MB'),
  ];
}

async function inChild<T>(task: StoreTask): Promise<T> {
  const child = spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(task));
  return JSON.parse(await text(child.stdout)) as T;
}

/** A server builds its graphs after it has taken the points; until then it compares them all. */
async function untilIndexed(url: string): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    const response = await fetch(`${url}/collections/synthetic`);
    const { result } = (await response.json()) as { result: { status: string } };
    quiet = result.status === 'green' ? quiet + 1 : 0;
    await delay(500);
  }
}
