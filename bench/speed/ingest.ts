import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Embedder } from '../../src/ports/embedder.ts';
import {
  type BareSession,
  createBareSession,
  createBatchMaker,
  type MakeBatches,
} from '../support/bare-session.ts';
import { loadDefaultEmbedder } from '../support/load-embedder.ts';
import { measureMs, median, withTemporaryDirectory } from '../support/measure.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';
import { writeEditions } from '../support/sample-book.ts';
import { ingestDirectory } from './reingest.ts';

const ROUNDS = 3;
const EDITIONS_PER_ROUND = 2;

interface Times {
  chunks: number;
  /** From listing the files to closing the collection. */
  pipeline: number;
  /** The time in the embedder: tokenizer, model and pooling. */
  embedder: number;
  /** The model alone on the same batches. */
  bare: number;
}

/** Compares the pipeline, from files to the committed collection, with the model alone on the same batches. */
export function benchIngest(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const embedder = await loadDefaultEmbedder();
    const bare = await createBareSession(availableParallelism());
    const makeBatches = await createBatchMaker();
    const rounds: Times[] = [];
    // The first round is a warm-up.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const documents = join(directory, `documents-${round}`);
      await writeEditions(documents, round * EDITIONS_PER_ROUND + 1, (round + 1) * EDITIONS_PER_ROUND);
      const times = await measure(documents, join(directory, `collections-${round}`));
      if (round > 0) rounds.push(times);
    }
    await bare.close();
    await embedder.close();

    const rate = (part: 'pipeline' | 'embedder' | 'bare') =>
      median(rounds.map((times) => (times.chunks / times[part]) * 1000));
    const ratio = (part: 'pipeline' | 'embedder') => median(rounds.map((times) => times.bare / times[part]));
    return [
      createRow(
        `ingest: bare session (${rounds[0]?.chunks} chunks, ${ROUNDS} rounds)`,
        rate('bare'),
        'chunks/s',
      ),
      createRow('ingest: embedder compared with the bare session', rate('embedder'), 'chunks/s', {
        ratio: ratio('embedder'),
      }),
      createRow('ingest: pipeline compared with the bare session', rate('pipeline'), 'chunks/s', {
        ratio: ratio('pipeline'),
        target: { of: 'ratio', atLeast: 0.85 },
      }),
    ];

    async function measure(documents: string, collections: string): Promise<Times> {
      const comparing = createComparingEmbedder(embedder, bare, makeBatches);
      let chunks = 0;
      const elapsed = await measureMs(async () => {
        const summary = await ingestDirectory(documents, collections, async () => comparing.embedder);
        chunks = summary.embeddedChunks;
      });
      const { times } = comparing;
      return { chunks, pipeline: elapsed - times.overhead, embedder: times.embedder, bare: times.bare };
    }
  });
}

/**
 * Wraps the embedder so that every call also runs the bare session on the same batches, alternately before and after:
 * both then see the same load of the machine. `overhead` is the time that this took.
 */
function createComparingEmbedder(embedder: Embedder, bare: BareSession, makeBatches: MakeBatches) {
  const times = { embedder: 0, bare: 0, overhead: 0 };
  let calls = 0;

  async function runBare(texts: readonly string[]): Promise<void> {
    times.overhead += await measureMs(async () => {
      const batches = makeBatches(texts);
      times.bare += await measureMs(() => bare.run(batches));
    });
  }

  const comparing: Embedder = {
    ...embedder,
    async embedDocuments(texts, signal) {
      calls += 1;
      if (calls % 2 === 0) await runBare(texts);
      let vectors: Float32Array[] = [];
      times.embedder += await measureMs(async () => {
        vectors = await embedder.embedDocuments(texts, signal);
      });
      if (calls % 2 === 1) await runBare(texts);
      return vectors;
    },
  };
  return { embedder: comparing, times };
}
