import { dotProduct } from '../../src/domain/unit-vectors.ts';
import { loadDefaultEmbedder } from '../support/load-embedder.ts';
import { type BenchmarkRow, createNote, createRow } from '../support/results.ts';
import { findRetrievalSet, mean, openRetrievalSet } from '../support/retrieval-set.ts';

const SET = 'squad2_dev';
const QUERIES = 300;
const TOP_K = 10;

/** Measures the recall of the quantized scan with rescoring on real embeddings. */
export async function benchScanRecall(): Promise<BenchmarkRow[]> {
  const set = findRetrievalSet(SET);
  if (set === null) return [createNote('recall: not measured, ../shared/data is missing')];
  const embedder = await loadDefaultEmbedder();
  const { store, queries } = await openRetrievalSet(set, embedder);
  const hashes = new Map<string, string>();
  const { chunks } = await store.info();
  const all = await store.search({
    text: null,
    vector: await embedder.embedQuery(SET),
    limit: chunks,
    filter: {},
  });
  for (const { chunk } of all) hashes.set(chunk.chunkId, chunk.contentHash);
  const vectors = await store.vectors([...new Set(hashes.values())]);

  const recalls: number[] = [];
  const step = Math.max(1, Math.floor(queries.length / QUERIES));
  for (const { text } of queries.filter((_, index) => index % step === 0).slice(0, QUERIES)) {
    const query = await embedder.embedQuery(text);
    const exact = [...hashes]
      .map(([id, hash]) => ({ id, score: dotProduct(query, vectors.get(hash)?.vector ?? []) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, TOP_K);
    const found = await store.search({ text: null, vector: query, limit: TOP_K, filter: {} });
    const foundIds = new Set(found.map(({ chunk }) => chunk.chunkId));
    recalls.push(exact.filter(({ id }) => foundIds.has(id)).length / exact.length);
  }
  await store.close();
  await embedder.close();
  return [
    createRow(
      `recall@${TOP_K}: int8 scan and rescore, ${hashes.size} real chunks, ${recalls.length} queries`,
      mean(recalls),
      '',
    ),
  ];
}
