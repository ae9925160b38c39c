import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SEARCH_MODES } from '../src/domain/setting-choices.ts';
import type { IngestProgress } from '../src/ingest/ingest.ts';
import type { ChunkStore } from '../src/ports/chunk-store.ts';
import type { Embedder } from '../src/ports/embedder.ts';
import { createRetriever } from '../src/retrieval/create-retriever.ts';
import { withWordReranker } from '../src/retrieval/rerank.ts';
import { fitThreshold } from './support/fit-threshold.ts';
import { loadDefaultEmbedder, loadNamedEmbedder } from './support/load-embedder.ts';
import {
  measureMode,
  measureQuality,
  RETRIEVAL_METRICS,
  type RetrievalScores,
  type ScoresByMode,
} from './support/measure-quality.ts';
import {
  countFoundAnswers,
  FOUND_COLUMNS,
  findQuestionSets,
  openQuestionCollection,
  type QuestionSet,
  readQuestionSet,
} from './support/question-set.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';
import {
  findRetrievalSet,
  openRetrievalSet,
  type RetrievalQuery,
  SHARED_DATA,
} from './support/retrieval-set.ts';

const MAX_QUERIES = 1000;
/** Queries that are also searched with reranking. */
const MAX_RERANKED = 200;
/** Takes long to embed: measured only with --all. */
const MULTITURN = 'multiturn';

/** nDCG@10, recall@5 and recall@10 of BM25, from the README of the data. */
const BM25_REFERENCE: Record<string, RetrievalScores> = {
  anthropic_docs: [0.705, 0.703, 0.795],
  squad2_dev: [0.89, 0.943, 0.965],
  'multiturn, last turn': [0.206, 0.213, 0.272],
  'multiturn, rewrite': [0.226, 0.22, 0.306],
};

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    /** onnx:<directory>; the built-in embedder unless given. */
    embedder: { type: 'string' },
  },
});

const sets = selectRetrievalSets();
const questionSets = selectQuestionSets();
if (sets.length + questionSets.length === 0) {
  console.log(`No retrieval sets of this name in ${SHARED_DATA}.`);
} else {
  await main();
}

async function main(): Promise<void> {
  const machine = describeMachine();
  console.log(formatMachine(machine));
  const encoder = await loadDefaultEmbedder();
  const loaded = flags.embedder === undefined ? encoder : await loadNamedEmbedder(flags.embedder);
  console.log(loaded.id);
  const measured: Record<string, ScoresByMode & { allLexical: RetrievalScores }> = {};
  const reranked: Record<string, { found: RetrievalScores; reranked: RetrievalScores }> = {};
  for (const directory of sets) {
    const name = basename(directory);
    const { queries, ...collection } = await openRetrievalSet(directory, loaded, {
      fresh: flags.fresh,
      onProgress: showProgress(name),
    });
    const embedder = await withBaseline(loaded, collection.store);
    const { documents, chunks } = await collection.store.info();
    const picked = flags.all ? queries : sampleQueries(queries, MAX_QUERIES);
    console.log(
      `\n${name}: ${documents} documents, ${chunks} chunks, ${picked.length} of ${queries.length} queries`,
    );
    for (const [variant, ask] of variantsOf(queries)) {
      const label = `${name}${variant}`;
      const quality = await measureQuality(collection, embedder, picked.map(ask));
      // The reference was measured on all queries.
      const allLexical =
        picked.length === queries.length
          ? quality.lexical
          : await measureMode('lexical', collection, embedder, queries.map(ask));
      measured[label] = { ...quality, allLexical };
      console.log(`\n${formatQuality(label, quality, allLexical)}`);
      const few = sampleQueries(picked, MAX_RERANKED).map(ask);
      reranked[label] = {
        found: await measureMode('hybrid', collection, embedder, few),
        reranked: await measureMode('hybrid', collection, embedder, few, true),
      };
      console.log(`\n${formatReranked(few.length, reranked[label])}`);
    }
    await collection.store.close();
  }
  const found: Record<string, Record<string, number[]>> = {};
  for (const set of questionSets) found[set.name] = await measureQuestions(set, loaded);
  for (const each of new Set([encoder, loaded])) await each.close();
  console.log(`\nWritten to ${await writeResults('quality.json', { machine, measured, reranked, found })}`);
}

/** Counts the questions whose answering passage is found with the agent's settings. */
async function measureQuestions(set: QuestionSet, embedder: Embedder): Promise<Record<string, number[]>> {
  const store = await openQuestionCollection(set, embedder, showProgress(set.name));
  const { documents, chunks } = await store.info();
  console.log(`\n${set.name}: ${documents} documents, ${chunks} chunks, ${set.questions.length} questions\n`);
  const found: Record<string, number[]> = {};
  for (const mode of SEARCH_MODES) {
    const scoreThreshold = mode === 'lexical' ? 0 : embedder.scoreThreshold;
    const retriever = createRetriever({ store, embedder: async () => embedder, mode, scoreThreshold });
    found[mode] = await countFoundAnswers(set, retriever);
    if (mode !== 'hybrid') continue;
    const reranking = withWordReranker(retriever, { store, embedder: async () => embedder });
    found['hybrid, reranked'] = await countFoundAnswers(set, reranking);
  }
  await store.close();
  const lines = Object.entries(found).map(([mode, counts]) => [mode, ...counts.map(String)]);
  console.log(alignColumns([[set.name, ...FOUND_COLUMNS], ...lines], [1, 2, 3, 4, 5]));
  return found;
}

/** Fits the baseline of another embedder like `collections threshold`, unless its model names one. */
async function withBaseline(embedder: Embedder, store: ChunkStore): Promise<Embedder> {
  if (flags.embedder === undefined || (embedder.baseline ?? 0) > 0) return embedder;
  const { baseline, threshold, ownKept, othersKept } = await fitThreshold(store, embedder);
  console.log(
    `\n${store.name}: baseline ${baseline}, threshold ${threshold}, which ${ownKept.toFixed(3)} of the own and ` +
      `${othersKept.toFixed(3)} of the other sentences reach`,
  );
  return { ...embedder, baseline };
}

/** The folders with a corpus that were named, or all but the long one. */
function selectRetrievalSets(): string[] {
  if (positionals.length > 0)
    return positionals.flatMap((name) => findRetrievalSet(name) ?? setsIn(resolve(name)));
  return [
    ...setsIn(join(SHARED_DATA, 'retrieval')),
    ...(flags.all ? setsIn(join(SHARED_DATA, MULTITURN)) : []),
  ];
}

/** The question sets that were named, or all. */
function selectQuestionSets(): QuestionSet[] {
  if (positionals.length === 0) return findQuestionSets();
  return positionals.flatMap(
    (name) => findQuestionSets().find((set) => set.name === name) ?? readQuestionSet(resolve(name)) ?? [],
  );
}

function setsIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const places = [directory, ...readdirSync(directory).map((name) => join(directory, name))];
  return places.filter((place) => existsSync(join(place, 'corpus.jsonl'))).sort();
}

/** Conversations are measured with the last turn and with its rewrite as a standalone question. */
function variantsOf(
  queries: readonly RetrievalQuery[],
): [string, (query: RetrievalQuery) => RetrievalQuery][] {
  if (queries.every(({ rewrite }) => rewrite === null)) return [['', (query) => query]];
  return [
    [', last turn', (query) => query],
    [', rewrite', (query) => ({ ...query, text: query.rewrite ?? query.text })],
  ];
}

/** An even, deterministic sample. */
function sampleQueries<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)] as T);
}

function formatQuality(label: string, quality: ScoresByMode, allLexical: RetrievalScores): string {
  const { lexical, dense, hybrid } = quality;
  const reference = BM25_REFERENCE[label];
  const lines = [
    [label, ...RETRIEVAL_METRICS],
    ...Object.entries(quality).map(([mode, scores]) => line(mode, scores)),
    comparisonRow(
      'hybrid above lexical',
      (metric) => toThousandths(hybrid[metric]) > toThousandths(lexical[metric]),
    ),
    comparisonRow(
      'hybrid above dense',
      (metric) => toThousandths(hybrid[metric]) > toThousandths(dense[metric]),
    ),
  ];
  if (reference !== undefined) {
    lines.push(
      line('lexical, all queries', allLexical),
      line('BM25 reference, all queries', reference),
      comparisonRow(
        'lexical not below BM25',
        (metric) => toThousandths(allLexical[metric]) >= toThousandths(reference[metric]),
      ),
    );
  }
  return alignColumns(lines, [1, 2, 3]);
}

function formatReranked(
  queries: number,
  scores: { found: RetrievalScores; reranked: RetrievalScores },
): string {
  return alignColumns(
    [
      [`${queries} of them`, ...RETRIEVAL_METRICS],
      line('hybrid', scores.found),
      line('hybrid, reranked', scores.reranked),
    ],
    [1, 2, 3],
  );
}

function line(name: string, scores: RetrievalScores): string[] {
  return [name, ...scores.map((score) => score.toFixed(3))];
}

function comparisonRow(name: string, holds: (metric: 0 | 1 | 2) => boolean): string[] {
  return [name, ...([0, 1, 2] as const).map((metric) => (holds(metric) ? 'yes' : 'no'))];
}

/** The reference has three digits. */
function toThousandths(score: number): number {
  return Math.round(score * 1000);
}

/** Prints a line to stderr every ten seconds. */
function showProgress(name: string) {
  let next = performance.now() + 10_000;
  return ({ documents, totalDocuments, embedding }: IngestProgress) => {
    if (performance.now() < next) return;
    next += 10_000;
    const chunks =
      embedding === null ? '' : `, ${embedding.chunks} of ${embedding.totalChunks} chunks embedded`;
    console.error(`${name}: ${documents} of ${totalDocuments} documents${chunks}`);
  };
}
