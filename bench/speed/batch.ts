import { availableParallelism } from 'node:os';
import { createBareSession, createBatchMaker } from '../support/bare-session.ts';
import { interleaved, median, medianRatio, timed } from '../support/measure.ts';
import { loadEmbedder } from '../support/minilm.ts';
import { type Row, row } from '../support/results.ts';
import { sampleChunks } from '../support/sample-book.ts';

const CHUNKS = 48;
const ROUNDS = 5;
/** What every other way is held against: fastest for one session, but a text's vector depends on its batch. */
const BASE = 'batches of 1024 tokens';
const BATCH_TOKENS = 1024;

/** Ways to run the model on many texts: what decisions/0014 rests on. The embedder's time has the tokenizer's in it. */
export async function benchBatch(): Promise<Row[]> {
  const embedder = await loadEmbedder();
  const texts = await sampleChunks(CHUNKS, embedder);
  const makeBatches = await createBatchMaker();
  const session = await createBareSession(availableParallelism());
  const batches = makeBatches(texts, BATCH_TOKENS);
  const one = makeBatches(texts, 1);
  const variants: Record<string, () => Promise<number>> = {
    [BASE]: () => timed(() => session.run(batches)),
    'one text a run, one session': () => timed(() => session.run(one)),
    'one text a run, sessions side by side (the embedder)': () => timed(() => embedder.embedDocuments(texts)),
  };
  await interleaved(1, variants);
  const elapsed = await interleaved(ROUNDS, variants);
  await session.close();
  await embedder.close();
  return Object.entries(elapsed).map(([name, times]) =>
    row(`batch: ${name}, speed against ${BASE}`, (texts.length / median(times)) * 1000, 'chunks/s', {
      ratio: medianRatio(elapsed[BASE] ?? [], times),
    }),
  );
}
