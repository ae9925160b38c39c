/**
 * What decisions/0011 rests on: what the epochs of a Qdrant collection cost a search, and how the server's own IDF
 * ranks beside ours. Run by itself: `node bench/qdrant-choices.ts [chunks]`; takes some minutes (0 chunks: only the IDF).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { QdrantClient, type Schemas } from '@qdrant/js-client-rest';
import { createDocumentParser } from '../src/adapters/documents/parse-document.ts';
import { visibleAt } from '../src/adapters/qdrant/points.ts';
import { createQdrantCatalog } from '../src/adapters/qdrant/qdrant-catalog.ts';
import { documentVector, termIndex, termsOf } from '../src/adapters/qdrant/sparse-terms.ts';
import { createSqliteCatalog } from '../src/adapters/sqlite/sqlite-catalog.ts';
import { ingest } from '../src/ingest/ingest.ts';
import type { ChunkStore } from '../src/ports/chunk-store.ts';
import { queryTerms } from '../src/text/terms.ts';
import { createWordEmbedder } from '../test/support/word-embedder.ts';
import { inWindows } from './speed/qdrant-upsert.ts';
import { interleaved, median, timed, withTemporaryDirectory } from './support/measure.ts';
import { withQdrant } from './support/qdrant.ts';
import { describeMachine, formatMachine } from './support/results.ts';
import {
  corpusSource,
  findSet,
  mean,
  ndcgAt,
  type RetrievalQuery,
  readRows,
  readSet,
} from './support/retrieval-set.ts';
import { createSyntheticDocuments, SYNTHETIC_IDENTITY } from './support/synthetic.ts';

const CHUNKS = Number(process.argv[2] ?? 20_000);
const QUERIES = 150;
const WARM_UP = 20;
const HEAD = '00000000-0000-0000-0000-000000000000';
/** The average length that ready-made encoders of BM25 for Qdrant assume, whatever the collection. */
const USUAL_LENGTH = 256;

console.log(formatMachine(describeMachine()));
await withQdrant(async ({ url }) => {
  const client = new QdrantClient({ url, checkCompatibility: false });
  if (CHUNKS > 0) await measureEpochs(url, client);
  for (const set of ['anthropic_docs', 'squad2_dev']) await measureIdf(url, client, set);
});

/** The same searches by a handle that finds the collection quiet, by one that must tell epochs apart, and without any head. */
async function measureEpochs(url: string, client: QdrantClient): Promise<void> {
  const catalog = createQdrantCatalog({ url });
  const store = await catalog.openOrCreate('epochs', SYNTHETIC_IDENTITY);
  const { documents, queries } = await createSyntheticDocuments(CHUNKS, QUERIES);
  for (const window of inWindows(documents())) await store.write(window);
  await store.settle();
  for (let quiet = 0; quiet < 3; await delay(500)) {
    quiet = (await client.getCollection('epochs')).status === 'green' ? quiet + 1 : 0;
  }
  const [head] = await client.retrieve('epochs__documents', { ids: [HEAD], with_payload: true });
  const epoch = Number(head?.payload?.epoch);
  const set = (payload: Record<string, number>) =>
    client.setPayload('epochs__documents', { payload, points: [HEAD], wait: true });
  const search = (at: number) => () => {
    const { text, vector } = queries[at] as (typeof queries)[number];
    return store.search({ text, vector, limit: 10, filter: {} });
  };
  const alone = (at: number, filter: Schemas['Filter'] | null) => () =>
    client.query('epochs', {
      query: Array.from(queries[at]?.vector ?? []),
      using: 'dense',
      filter,
      limit: 100,
    });
  /** Each first asks as many as it takes to know the head as it is now, then is measured twice: terms new, terms counted. */
  const searches = (wholeAt: number, times: number[]) => async (at: number) => {
    await set({ wholeAt });
    await store.count({});
    // Another attempt, so that nothing is known of how often terms are there.
    await set({ attempt: epoch + 2 * at + (wholeAt === epoch ? 1 : 0) });
    await store.count({});
    const first = await timed(search(at));
    times.push(await timed(search(at)));
    return first;
  };
  const again: Record<'quiet' | 'asked', number[]> = { quiet: [], asked: [] };
  const times = await interleaved(QUERIES, {
    quiet: searches(epoch, again.quiet),
    asked: searches(-1, again.asked),
    'vectors alone': (at) => timed(alone(at, null)),
    'vectors alone, asked': (at) => timed(alone(at, visibleAt(epoch))),
    'the head': () => timed(() => client.retrieve('epochs__documents', { ids: [HEAD], with_payload: true })),
  });
  const shown = (values: readonly number[]) => `${median(values.slice(WARM_UP)).toFixed(1)} ms`;
  console.log(`\n${CHUNKS} chunks, hybrid search, median of ${QUERIES - WARM_UP}:`);
  console.log(`  epochs left out, terms new  ${shown(times.quiet)}, terms known  ${shown(again.quiet)}`);
  console.log(`  epochs asked for, terms new ${shown(times.asked)}, terms known ${shown(again.asked)}`);
  console.log(
    `  100 nearest vectors alone ${shown(times['vectors alone'])}, with epochs ${shown(times['vectors alone, asked'])}`,
  );
  console.log(`  reading the head ${shown(times['the head'])}`);
  await catalog.delete('epochs');
}

/** Search by words alone: the embedded store, ours on Qdrant, and the server's IDF over the same weights of chunks. */
async function measureIdf(url: string, client: QdrantClient, name: string): Promise<void> {
  const directory = findSet(name);
  if (directory === null) return console.log(`${name} is not there.`);
  await withTemporaryDirectory(async (place) => {
    const embedder = createWordEmbedder({ maxTokens: 256 });
    const identity = { embedder: embedder.id, dimensions: embedder.dimensions };
    const sqlite = await createSqliteCatalog(place).openOrCreate(name, identity);
    const qdrant = await createQdrantCatalog({ url }).openOrCreate(name, identity);
    const corpus = readRows(directory, 'corpus.jsonl');
    for (const store of [sqlite, qdrant]) {
      const dependencies = {
        store,
        parse: createDocumentParser(),
        embedder: async () => embedder,
        stillExists: async () => true,
      };
      await ingest([corpusSource(corpus)], dependencies, { prune: false });
      await store.settle();
    }
    const { queries: all, documentOf } = readSet(directory, corpus);
    const step = Math.max(1, Math.floor(all.length / 300));
    const queries = all.filter((_, at) => at % step === 0);
    const servers = await Promise.all(
      [null, USUAL_LENGTH].map((length) => serverRanking(client, sqlite, `${name}_idf_${length}`, length)),
    );
    const ours = (store: ChunkStore) => async (text: string) =>
      (await store.search({ text, vector: null, limit: 100, filter: {} })).map(({ chunk }) => chunk.url);
    const rankings: [string, (text: string) => Promise<string[]>][] = [
      ['embedded store', ours(sqlite)],
      ['Qdrant, our IDF', ours(qdrant)],
      ['Qdrant, its IDF, our lengths', servers[0] as (text: string) => Promise<string[]>],
      ['Qdrant, its IDF, a fixed length', servers[1] as (text: string) => Promise<string[]>],
    ];
    console.log(`\n${name}: ${(await sqlite.info()).chunks} chunks, ${queries.length} queries, words alone:`);
    const reference = await Promise.all(queries.map(({ text }) => rankings[0]?.[1](text)));
    for (const [label, rank] of rankings) {
      const { ndcg, same, ms } = await judge(queries, rank, reference as string[][], documentOf);
      console.log(
        `  ${label.padEnd(32)} nDCG@10 ${ndcg.toFixed(3)}, first five as embedded ${(100 * same).toFixed(0)} %, ${ms.toFixed(1)} ms`,
      );
    }
    await sqlite.close();
  });
}

async function judge(
  queries: readonly RetrievalQuery[],
  rank: (text: string) => Promise<string[]>,
  reference: readonly string[][],
  documentOf: (url: string) => string,
) {
  const times: number[] = [];
  const scores: { ndcg: number; same: number }[] = [];
  for (const [at, { text, relevance }] of queries.entries()) {
    let urls: string[] = [];
    times.push(await timed(async () => (urls = await rank(text))));
    const ranking = [...new Set(urls.map(documentOf))];
    const same = urls.slice(0, 5).join() === reference[at]?.slice(0, 5).join();
    scores.push({ ndcg: ndcgAt(10, ranking, relevance), same: same ? 1 : 0 });
  }
  return {
    ndcg: mean(scores.map(({ ndcg }) => ndcg)),
    same: mean(scores.map(({ same }) => same)),
    ms: median(times),
  };
}

/** A collection of the same chunks for which the server counts how rare terms are. */
async function serverRanking(
  client: QdrantClient,
  from: ChunkStore,
  collection: string,
  length: number | null,
) {
  await client.createCollection(collection, { vectors: {}, sparse_vectors: { terms: { modifier: 'idf' } } });
  const uris = (await Array.fromAsync(from.documents())).map(({ uri }) => uri);
  const chunks = (await from.read(uris)).flatMap(({ document, chunks: own }) =>
    own.map(({ headings, text }) => ({ url: document.url, terms: termsOf(document.title, headings, text) })),
  );
  const average = length ?? mean(chunks.map(({ terms }) => terms.length));
  for (let start = 0; start < chunks.length; start += 200) {
    const points = chunks.slice(start, start + 200).map(({ url, terms }, at) => ({
      id: start + at,
      vector: { terms: documentVector(terms, average) },
      payload: { url },
    }));
    await client.upsert(collection, { points, wait: true });
  }
  return async (text: string): Promise<string[]> => {
    const indices = [...new Set(queryTerms(text).map(termIndex))];
    if (indices.length === 0) return [];
    const query = { indices, values: indices.map(() => 1) };
    const { points } = await client.query(collection, {
      query,
      using: 'terms',
      limit: 100,
      with_payload: ['url'],
    });
    return points.map(({ payload }) => String(payload?.url));
  };
}
