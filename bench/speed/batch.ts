import { availableParallelism } from 'node:os';
import { createBareSession, createBatchMaker } from '../support/bare-session.ts';
import { loadDefaultEmbedder } from '../support/load-embedder.ts';
import { measureInterleaved, measureMs, median, medianRatio } from '../support/measure.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';
import { sampleChunks } from '../support/sample-book.ts';

const CHUNKS = 48;
const ROUNDS = 5;
/** The fastest for one session, but the vector of a text depends on its batch. */
const BASELINE = 'batches of 1024 tokens';
const BATCH_TOKENS = 1024;

/** Compares ways to run the model on many texts (decision 0014). The time of the embedder includes tokenization. */
export async function benchBatch(): Promise<BenchmarkRow[]> {
  const embedder = await loadDefaultEmbedder();
  const texts = await sampleChunks(CHUNKS, embedder);
  const makeBatches = await createBatchMaker();
  const session = await createBareSession(availableParallelism());
  const batches = makeBatches(texts, BATCH_TOKENS);
  const one = makeBatches(texts, 1);
  const variants: Record<string, () => Promise<number>> = {
    [BASELINE]: () => measureMs(() => session.run(batches)),
    'one text per run, one session': () => measureMs(() => session.run(one)),
    'one text per run, parallel sessions (the embedder)': () =>
      measureMs(() => embedder.embedDocuments(texts)),
  };
  await measureInterleaved(1, variants);
  const elapsed = await measureInterleaved(ROUNDS, variants);
  await session.close();
  await embedder.close();
  return Object.entries(elapsed).map(([name, times]) =>
    createRow(
      `batch: ${name}, compared with ${BASELINE}`,
      (texts.length / median(times)) * 1000,
      'chunks/s',
      {
        ratio: medianRatio(elapsed[BASELINE] ?? [], times),
      },
    ),
  );
}
