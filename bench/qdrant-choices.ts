/**
 * The measurements of decisions/0011: ingest, search and replacement of documents on a Qdrant server, and the server's
 * own IDF beside ours. `node bench/qdrant-choices.ts [chunks]` takes some minutes; with 0 chunks, only the IDF.
 */
import { QdrantClient } from '@qdrant/js-client-rest';
import { createDocumentParser } from '../src/adapters/documents/parse-document.ts';
import { createQdrantCatalog } from '../src/adapters/qdrant/qdrant-catalog.ts';
import { extractChunkTerms, hashTerm, toSparseVector } from '../src/adapters/qdrant/sparse-terms.ts';
import { createSqliteCatalog } from '../src/adapters/sqlite/sqlite-catalog.ts';
import { ingestSources } from '../src/ingest/ingest.ts';
import type { ChunkStore, DocumentWrite } from '../src/ports/chunk-store.ts';
import { queryTerms } from '../src/text/terms.ts';
import { createWordEmbedder } from '../test/support/word-embedder.ts';
import { groupWrites } from './speed/qdrant-upsert.ts';
import { measureMs, median, withTemporaryDirectory } from './support/measure.ts';
import { withQdrant } from './support/qdrant.ts';
import { describeMachine, formatMachine } from './support/results.ts';
import {
  createCorpusSource,
  findRetrievalSet,
  mean,
  ndcgAt,
  type RetrievalQuery,
  readJsonRows,
  readRetrievalSet,
} from './support/retrieval-set.ts';
import { createSyntheticDocuments, SYNTHETIC_IDENTITY } from './support/synthetic.ts';

const CHUNKS = Number(process.argv[2] ?? 20_000);
const QUERIES = 150;
const WARM_UP = 20;

console.log(formatMachine(describeMachine()));
await withQdrant(async ({ url }) => {
  const client = new QdrantClient({ url, checkCompatibility: false });
  if (CHUNKS > 0) await measureReplacement(url);
  for (const set of ['anthropic_docs', 'squad2_dev']) await measureIdf(url, client, set);
});

/** Ingest, search, and what a second handle sees while every document is replaced. */
async function measureReplacement(url: string): Promise<void> {
  const catalog = createQdrantCatalog({ url, timeoutMs: 120_000 });
  const store = await catalog.openOrCreate('replaced', SYNTHETIC_IDENTITY);
  const reader = (await catalog.open('replaced')) as ChunkStore;
  const { documents, queries } = await createSyntheticDocuments(CHUNKS, QUERIES);
  const windows = [...groupWrites(documents())];
  const writeAll = async (version: number) => {
    for (const window of windows) await store.write(window.map((write) => withVersion(write, version)));
  };
  const rate = (ms: number) => `${Math.round(CHUNKS / (ms / 1000))} chunks/s`;
  console.log(`\n${CHUNKS} chunks, ingest ${rate(await measureMs(() => writeAll(1)))}`);
  console.log(`  settle ${(await measureMs(() => store.settle())).toFixed(0)} ms`);
  const search = (at: number) => {
    const { text, vector } = queries[at % queries.length] as (typeof queries)[number];
    return reader.search({ text, vector, limit: 10, filter: {} });
  };
  const newTerms: number[] = [];
  const knownTerms: number[] = [];
  for (let at = 0; at < QUERIES; at += 1) {
    newTerms.push(await measureMs(() => search(at)));
    knownTerms.push(await measureMs(() => search(at)));
  }
  console.log(
    `  hybrid search, terms new ${formatMedian(newTerms)}, terms known ${formatMedian(knownTerms)}`,
  );

  const times: number[] = [];
  let mixed = 0;
  let short = 0;
  let isWriting = true;
  const writing = measureMs(() => writeAll(2)).finally(() => {
    isWriting = false;
  });
  for (let at = 0; isWriting; at += 1) {
    times.push(
      await measureMs(async () => {
        const hits = await search(at);
        const versions = Map.groupBy(hits, ({ chunk }) => chunk.url);
        const isMixed = [...versions.values()].some(
          (own) => new Set(own.map(({ chunk }) => chunk.title.at(-1))).size > 1,
        );
        if (isMixed) mixed += 1;
        if (hits.length < 10) short += 1;
      }),
    );
  }
  console.log(`  replacing all documents ${rate(await writing)}; meanwhile ${times.length} searches,`);
  console.log(
    `  median ${median(times).toFixed(1)} ms, ${mixed} with two versions of a document, ${short} with fewer hits`,
  );
  await catalog.delete('replaced');
}

function withVersion(write: DocumentWrite, version: number): DocumentWrite {
  const { document } = write;
  const versioned = {
    ...document,
    title: `${document.title} v${version}`,
    contentHash: `${document.contentHash}-${version}`,
  };
  return { ...write, document: versioned };
}

function formatMedian(times: readonly number[]): string {
  return `${median(times.slice(WARM_UP)).toFixed(1)} ms`;
}

/** Text search: the embedded store, our IDF on Qdrant, and the server's IDF over the same chunk weights. */
async function measureIdf(url: string, client: QdrantClient, name: string): Promise<void> {
  const directory = findRetrievalSet(name);
  if (directory === null) return console.log(`${name} was not found.`);
  await withTemporaryDirectory(async (place) => {
    const embedder = createWordEmbedder({ maxTokens: 256 });
    const identity = { embedder: embedder.id, dimensions: embedder.dimensions };
    const sqlite = await createSqliteCatalog(place).openOrCreate(name, identity);
    const qdrant = await createQdrantCatalog({ url }).openOrCreate(name, identity);
    const corpus = readJsonRows(directory, 'corpus.jsonl');
    for (const store of [sqlite, qdrant]) {
      const dependencies = {
        store,
        parse: createDocumentParser(),
        embedder: async () => embedder,
        stillExists: async () => true,
        hasWords: true,
      };
      await ingestSources([createCorpusSource(corpus)], dependencies, { prune: false });
      await store.settle();
    }
    const { queries: all, documentOf } = readRetrievalSet(directory, corpus);
    const step = Math.max(1, Math.floor(all.length / 300));
    const queries = all.filter((_, at) => at % step === 0);
    const ours = (store: ChunkStore) => async (text: string) =>
      (await store.search({ text, vector: null, limit: 100, filter: {} })).map(({ chunk }) => chunk.url);
    const rankings: [string, (text: string) => Promise<string[]>][] = [
      ['embedded store', ours(sqlite)],
      ['Qdrant, our IDF', ours(qdrant)],
      ["Qdrant, the server's IDF", await serverRanking(client, sqlite, `${name}_idf`)],
    ];
    console.log(`\n${name}: ${(await sqlite.info()).chunks} chunks, ${queries.length} queries, text search:`);
    const reference = await Promise.all(queries.map(({ text }) => rankings[0]?.[1](text)));
    for (const [label, rank] of rankings) {
      const { ndcg, same, ms } = await compareRankings(queries, rank, reference as string[][], documentOf);
      console.log(
        `  ${label.padEnd(32)} nDCG@10 ${ndcg.toFixed(3)}, first five as embedded ${(100 * same).toFixed(0)} %, ${ms.toFixed(1)} ms`,
      );
    }
    await sqlite.close();
  });
}

async function compareRankings(
  queries: readonly RetrievalQuery[],
  rank: (text: string) => Promise<string[]>,
  reference: readonly string[][],
  documentOf: (url: string) => string,
) {
  const times: number[] = [];
  const scores: { ndcg: number; same: number }[] = [];
  for (const [at, { text, relevance }] of queries.entries()) {
    let urls: string[] = [];
    times.push(await measureMs(async () => (urls = await rank(text))));
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

/** Searches a collection of the same chunks with the server's IDF. */
async function serverRanking(client: QdrantClient, from: ChunkStore, collection: string) {
  await client.createCollection(collection, { vectors: {}, sparse_vectors: { terms: { modifier: 'idf' } } });
  const uris = (await Array.fromAsync(from.documents())).map(({ uri }) => uri);
  const chunks = (await from.read(uris)).flatMap(({ document, chunks: own }) =>
    own.map(({ headings, text }) => ({
      url: document.url,
      terms: extractChunkTerms(document.title, headings, text),
    })),
  );
  for (let start = 0; start < chunks.length; start += 200) {
    const points = chunks.slice(start, start + 200).map(({ url, terms }, at) => ({
      id: start + at,
      vector: { terms: toSparseVector(terms) },
      payload: { url },
    }));
    await client.upsert(collection, { points, wait: true });
  }
  return async (text: string): Promise<string[]> => {
    const indices = [...new Set(queryTerms(text).map(hashTerm))];
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
