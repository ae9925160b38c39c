import type { Filter } from '../../src/domain/query.ts';
import type { SearchMode } from '../../src/domain/setting-choices.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { createRetriever } from '../../src/retrieval/create-retriever.ts';
import {
  measureInterleaved,
  measureMs,
  median,
  percentile,
  withTemporaryDirectory,
} from '../support/measure.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';
import { createSyntheticCollection } from '../support/synthetic.ts';
import { benchScanRecall } from './scan-recall.ts';

const CHUNKS = 10_000;
const QUERIES = 250;
const WARM_UP = 50;
const TOP_K = 10;

/** Measures searches of an open collection, without embedding the query. */
export function benchWarm(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => [
    ...(await benchLatency(directory)),
    ...(await benchScanRecall()),
  ]);
}

async function benchLatency(directory: string): Promise<BenchmarkRow[]> {
  const { store, queries } = await createSyntheticCollection(directory, CHUNKS, QUERIES);
  const vectors = new Map(queries.map(({ text, vector }) => [text, vector]));
  const embedder = { embedQuery: async (text: string) => vectors.get(text) } as unknown as Embedder;

  const search = (mode: SearchMode, filterOf: (module: string) => Filter = () => ({})) => {
    const retriever = createRetriever({ store, embedder: async () => embedder, scoreThreshold: 0, mode });
    return (round: number) => {
      const { text, module } = queries[round % queries.length] as (typeof queries)[number];
      return measureMs(() => retriever.retrieve({ text, topK: TOP_K, filter: filterOf(module) }));
    };
  };
  const variants = {
    hybrid: search('hybrid'),
    dense: search('dense'),
    lexical: search('lexical'),
    'hybrid, filtered to 5 %': search('hybrid', (module) => ({ module: [module] })),
  };
  await measureInterleaved(WARM_UP, variants);
  const times = await measureInterleaved(queries.length, variants);
  await store.close();
  return Object.entries(times).flatMap(([name, measured]) => [
    createRow(`warm: ${name}, ${CHUNKS} chunks, p50`, median(measured), 'ms', {
      ...(name === 'hybrid' && { target: { of: 'value', atMost: 10 } as const }),
    }),
    createRow(`warm: ${name}, ${CHUNKS} chunks, p95`, percentile(measured, 0.95), 'ms'),
  ]);
}
