import { createBareSession, createBatchMaker } from './bare-session.ts';
import { interleaved, median, medianRatio, timed } from './measure.ts';
import { loadEmbedder } from './minilm.ts';
import { type Row, row } from './rows.ts';
import { sampleChunks } from './sample-chunks.ts';

const CHUNKS = 48;
const ROUNDS = 5;
const BATCH_TOKENS = [512, 1024, 1536, 2048, 3072, 4096];
const THREADS = [1, 2];
/** What the program does on a machine of two cores. */
const CHOSEN = nameOf(1536, 2);

/** Batch sizes and threads, the model alone: what `BATCH_TOKENS` and the session's threads were chosen by. */
export async function benchBatch(): Promise<Row[]> {
  const embedder = await loadEmbedder();
  const texts = await sampleChunks(CHUNKS, embedder);
  await embedder.close();
  const makeBatches = await createBatchMaker();
  const sessions = await Promise.all(THREADS.map(createBareSession));
  const variants: Record<string, () => Promise<number>> = {};
  sessions.forEach((session, index) => {
    for (const tokens of BATCH_TOKENS) {
      const batches = makeBatches(texts, tokens);
      variants[nameOf(tokens, THREADS[index] ?? 0)] = () => timed(() => session.run(batches));
    }
  });
  for (const session of sessions) await session.run(makeBatches(texts));
  const elapsed = await interleaved(ROUNDS, variants);
  for (const session of sessions) await session.close();
  return Object.entries(elapsed).map(([name, times]) =>
    row(`batch: ${name}, speed against ${CHOSEN}`, (texts.length / median(times)) * 1000, 'chunks/s', {
      ratio: medianRatio(elapsed[CHOSEN] ?? [], times),
    }),
  );
}

function nameOf(tokens: number, threads: number): string {
  return `${tokens} tokens x ${threads}`;
}
