import { advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { Reranker } from '../../ports/reranker.ts';
import type { EncoderDirectory } from './encoder-directory.ts';
import { readForeignTokens } from './foreign-tokens.ts';
import { createModelThreads, type ModelThreads } from './model-threads.ts';

/** One half is where such a model sees no more for than against. */
const SCORE_THRESHOLD = 0.5;

export interface LocalReranker extends Reranker {
  close(): Promise<void>;
}

/** A cross-encoder that someone exported to ONNX: it reads the query together with each passage. */
export async function createDirectoryReranker(
  { id, directory, weights, maxTokens, threshold = SCORE_THRESHOLD }: EncoderDirectory,
  {
    engine,
    threads,
    modelThreads = createModelThreads(),
  }: { engine: string; threads: number; modelThreads?: ModelThreads },
): Promise<LocalReranker> {
  const tokens = await readForeignTokens(directory);
  const model = await modelThreads.load({
    engine,
    weights: { path: weights },
    pooling: null,
    threads,
    member: 0,
  });

  async function scoreOf(query: string, document: string): Promise<number> {
    const pair = tokens.pair(query, document, maxTokens);
    return chanceOf(await model.encode(pair.tokens, pair.types), weights);
  }

  return {
    id,
    scoreThreshold: threshold,
    async rerank(query, documents, topN, signal) {
      const scored: { index: number; score: number }[] = [];
      for (const [index, document] of documents.entries()) {
        signal?.throwIfAborted();
        scored.push({ index, score: await scoreOf(query, document) });
        signal?.throwIfAborted();
      }
      return scored.toSorted((a, b) => b.score - a.score || a.index - b.index).slice(0, topN);
    },
    close: model.stop,
  };
}

/** One number says how relevant a passage is, or two how likely it is not and that it is. */
function chanceOf(output: Float32Array, weights: string): number {
  const [first, second] = output;
  if (first !== undefined && output.length <= 2 && output.every(Number.isFinite)) {
    return 1 / (1 + Math.exp(second === undefined ? -first : first - second));
  }
  throw new AppError(
    'configuration_error',
    `The model ${weights} is no cross-encoder: it gives ${output.length} numbers for a pair of texts, not one.`,
    { hint: advice`An encoder of single texts is for ${setting('embedder')}.` },
  );
}
