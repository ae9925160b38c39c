import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createQdrantCatalog } from '../src/adapters/qdrant/qdrant-catalog.ts';
import { documentVersion, toChunkPoint, toRecordPoint } from '../src/adapters/qdrant/qdrant-points.ts';
import { extractChunkTerms } from '../src/adapters/qdrant/sparse-terms.ts';
import { createQuery } from '../src/domain/query.ts';
import type { ChunkStore, DocumentWrite } from '../src/ports/chunk-store.ts';
import { type QdrantProcess, startQdrant } from '../test/support/qdrant-server.ts';
import {
  cpuTimeMs,
  measureMs,
  median,
  percentile,
  residentMb,
  withTemporaryDirectory,
} from './support/measure.ts';
import { waitUntilIndexed } from './support/qdrant.ts';
import { createRow, describeMachine, formatMachine, formatRows, writeResults } from './support/results.ts';
import {
  createSyntheticDocuments,
  createSyntheticRetriever,
  SYNTHETIC_IDENTITY,
  type SyntheticQuery,
} from './support/synthetic.ts';

/*
 * Searches a large collection on one Qdrant server: `npm run bench:scale -- --chunks 1000000 --words 55`. The points are
 * copies of a smaller synthetic collection with other ids and rotated vectors, because generating all would take hours.
 */

const NAME = 'synthetic';
const POOL_CHUNKS = 10_000;
const QUERIES = 220;
const WARM_UP = 20;
const BATCH_POINTS = 200;
const PARALLEL_BATCHES = 3;
/** Replaced in the ids and hashes of each copy by its number. */
const COPY = 'c0c0';
/** Vectors are rotated by whole blocks, so that each copy has other clusters. */
const BLOCK = 8;

const { values: options } = parseArgs({
  options: {
    chunks: { type: 'string', default: '1000000' },
    words: { type: 'string', default: '55' },
    quantization: { type: 'string', default: 'int8' },
    /** Keeps the data there, and measures it without loading if it exists. */
    directory: { type: 'string' },
  },
});
const chunks = Number(options.chunks);
const quantization = options.quantization === 'int8' ? 'int8' : 'none';
console.log(formatMachine(describeMachine()));
await (options.directory === undefined ? withTemporaryDirectory(main) : main(options.directory));

async function main(directory: string): Promise<void> {
  const storage = join(directory, 'qdrant');
  const { records, points, queries } = await createPool(Number(options.words));
  const rows = existsSync(storage) ? [] : await load(storage, points, records);
  const started = performance.now();
  const server = await startQdrant({ directory: storage });
  try {
    rows.push(createRow('start of the server', (performance.now() - started) / 1000, 's'));
    rows.push(...(await measureSearch(server, queries)), ...diskRows(storage));
    console.log(formatRows(rows));
    await writeResults('scale.json', { machine: describeMachine(), options, rows });
  } finally {
    await server.stop();
  }
}

async function load(storage: string, points: readonly string[][], records: readonly string[][]) {
  const server = await startQdrant({ directory: storage });
  try {
    await createQdrantCatalog({ url: server.url, quantization }).openOrCreate(NAME, SYNTHETIC_IDENTITY);
    const collection = `${server.url}/collections/${NAME}`;
    const copies = Math.ceil(chunks / points.length);
    await send('PATCH', collection, '{"optimizers_config":{"indexing_threshold":0}}');
    const loadingMs = await measureMs(async () => {
      await upsert(collection, points, copies);
      await upsert(`${collection}__documents`, records, copies);
    });
    console.error(`  loaded in ${Math.round(loadingMs / 1000)} s`);
    await send('PATCH', collection, '{"optimizers_config":{"indexing_threshold":10000}}');
    const indexingMs = await measureMs(() => waitUntilIndexed(collection));
    return [
      createRow('loading', loadingMs / 1000, 's'),
      createRow('indexing afterwards', indexingMs / 1000, 's'),
    ];
  } finally {
    await server.kill();
  }
}

async function measureSearch({ url, pid }: QdrantProcess, queries: readonly SyntheticQuery[]) {
  const store = (await createQdrantCatalog({ url, timeoutMs: 300_000 }).open(NAME)) as ChunkStore;
  const retriever = createSyntheticRetriever(store, queries);
  const searches = await measureQueries(pid, queries.slice(0, QUERIES / 2), ({ text, vector }) =>
    store.search({ text, vector, limit: 80, filter: {} }),
  );
  const reranks = await measureQueries(pid, queries.slice(QUERIES / 2), ({ text }) =>
    retriever.retrieve(createQuery({ text, topK: 8 })),
  );
  return [
    createRow('chunks', await store.count({}), ''),
    ...searches('hybrid search'),
    ...reranks('hybrid search and rerank'),
    createRow('memory of the server', residentMb(pid, 'RssAnon'), 'MB'),
    createRow('cached files of the server', residentMb(pid, 'RssFile'), 'MB'),
  ];
}

async function measureQueries(
  pid: number,
  queries: readonly SyntheticQuery[],
  run: (query: SyntheticQuery) => Promise<unknown>,
) {
  const times: number[] = [];
  for (const query of queries.slice(0, WARM_UP)) await run(query);
  const before = cpuTimeMs(pid);
  for (const query of queries.slice(WARM_UP)) times.push(await measureMs(() => run(query)));
  const cpuMs = (cpuTimeMs(pid) - before) / times.length;
  return (name: string) => [
    createRow(`${name} p50`, median(times), 'ms'),
    createRow(`${name} p95`, percentile(times, 0.95), 'ms'),
    createRow(`${name}, CPU time`, cpuMs, 'ms'),
  ];
}

/** Points as JSON, and queries about the first copy. */
async function createPool(words: number) {
  const { documents, queries } = await createSyntheticDocuments(
    Math.min(chunks, POOL_CHUNKS),
    QUERIES,
    words,
  );
  const points: string[][] = [];
  const records: string[][] = [];
  for (const write of documents()) {
    const { document, chunks: own } = write;
    const version = `${documentVersion(write).slice(0, 28)}${COPY}`;
    const record = toRecordPoint({ ...document, version, writtenAt: 0, chunks: own.length, bytes: 0 });
    const copyable = { ...record.payload, uri: `${document.uri}-${COPY}`, url: `${document.url}-${COPY}` };
    records.push([JSON.stringify({ ...record, id: withCopy(record.id), payload: copyable })]);
    points.push(...toTemplates(write, version));
  }
  return { records, points, queries: queries as SyntheticQuery[] };
}

/** The JSON of each point: the text before its vector, the blocks of the vector, and the text after it. */
function toTemplates(write: DocumentWrite, version: string): string[][] {
  const { document } = write;
  const urls = { uri: `${document.uri}-${COPY}`, url: `${document.url}-${COPY}` };
  return write.chunks.map((chunk) => {
    const terms = extractChunkTerms(document.title, chunk.headings, chunk.text);
    const stored = { ...chunk, chunkId: withCopy(chunk.chunkId), contentHash: withCopy(chunk.contentHash) };
    const { id, vector, payload } = toChunkPoint(stored, document, { terms, version, writtenAt: 0 });
    const { dense, ...others } = vector;
    const numbers = dense as number[];
    const json = JSON.stringify({
      id: withCopy(id),
      payload: { ...payload, ...urls },
      vector: { dense: ['here'], ...others },
    });
    const [before = '', after = ''] = json.split('"here"');
    const blocks = Array.from({ length: numbers.length / BLOCK }, (_, block) =>
      numbers.slice(block * BLOCK, (block + 1) * BLOCK).join(','),
    );
    return [before, ...blocks, after];
  });
}

function withCopy(digits: string): string {
  return `${COPY}${digits.slice(COPY.length)}`;
}

async function upsert(collection: string, templates: readonly string[][], copies: number): Promise<void> {
  let next = 0;
  const total = templates.length * copies;
  async function run(): Promise<void> {
    while (next < total) {
      const points: string[] = [];
      for (; points.length < BATCH_POINTS && next < total; next += 1) {
        const copy = Math.floor(next / templates.length);
        if (next % 20_000 === 0) console.error(`  ${next} of ${total} points, ${new Date().toISOString()}`);
        points.push(fillTemplate(templates[next % templates.length] as string[], copy));
      }
      await send('PUT', `${collection}/points?wait=true`, `{"points":[${points.join(',')}]}`);
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_BATCHES }, run));
}

function fillTemplate([before = '', ...rest]: readonly string[], copy: number): string {
  const digits = copy.toString(16).padStart(COPY.length, '0');
  if (rest.length === 0) return before.replaceAll(COPY, digits);
  const [blocks, after = ''] = [rest.slice(0, -1), rest.at(-1)];
  const shift = copy % blocks.length;
  const dense = [...blocks.slice(shift), ...blocks.slice(0, shift)].join(',');
  return `${before.replaceAll(COPY, digits)}${dense}${after.replaceAll(COPY, digits)}`;
}

/** Repeats requests on connections that the server has closed. */
async function send(method: string, url: string, body: string, attempts = 5): Promise<void> {
  const request = fetch(url, { method, body, headers: { 'content-type': 'application/json' } });
  const response = await request.catch((error: unknown) => {
    if (attempts === 1) throw error;
    return null;
  });
  if (response === null) return send(method, url, body, attempts - 1);
  const answer = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${answer.slice(0, 500)}`);
}

/** The size on disk, and the largest parts by the names of their directories in the segments. */
function diskRows(storage: string) {
  const segments = join(storage, 'storage/collections', NAME, '0/segments');
  const sizes = new Map<string, number>();
  const listed = execFileSync('du', ['-k', '--max-depth=2', segments], { encoding: 'utf8' });
  for (const line of listed.trim().split('\n')) {
    const [kilobytes = '0', path = ''] = line.split('\t');
    const [segment, part] = path.slice(segments.length + 1).split('/');
    if (part !== undefined || segment === '') {
      const name = part ?? 'all segments';
      sizes.set(name, (sizes.get(name) ?? 0) + Number(kilobytes) / 1024);
    }
  }
  return [...sizes]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 9)
    .map(([name, megabytes]) => createRow(`disk: ${name}`, megabytes, 'MB'));
}
