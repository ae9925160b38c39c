import { advice, settingName } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { Reranker } from '../../ports/reranker.ts';
import type { EngineLocation } from './engine.ts';
import { createModelThreads, type ModelThreads } from './model-threads.ts';
import type { OnnxDirectory } from './onnx-directory.ts';
import { readOnnxTokenizer } from './onnx-tokenizer.ts';

/** At one half a cross-encoder considers relevant and irrelevant equally likely. */
const SCORE_THRESHOLD = 0.5;
/** Entailment, neutral, contradiction. */
const MOST_LABELS = 3;

export interface LocalReranker extends Reranker {
  close(): Promise<void>;
}

interface OnnxRerankerOptions {
  engine: EngineLocation;
  /** How many threads of ONNX Runtime work on one text. */
  threads: number;
  /** Shared by the models of a process. */
  modelThreads?: ModelThreads;
}

/** A cross-encoder that the user exported to ONNX: it reads the query together with each passage. */
export async function createOnnxReranker(
  { id, directory, weights, maxTokens, entailment, threshold = SCORE_THRESHOLD }: OnnxDirectory,
  { engine, threads, modelThreads = createModelThreads() }: OnnxRerankerOptions,
): Promise<LocalReranker> {
  const tokenizer = await readOnnxTokenizer(directory);
  const model = await modelThreads.load({
    engine,
    weights: { path: weights },
    pooling: null,
    threads,
    member: 0,
  });

  return {
    id,
    scoreThreshold: threshold,
    async rerank(query, documents, topN, signal) {
      const scored: { index: number; score: number }[] = [];
      for (const [index, document] of documents.entries()) {
        signal?.throwIfAborted();
        const pair = tokenizer.encodePair(query, document, maxTokens);
        const output = await model.encode(pair.tokens, pair.types);
        scored.push({ index, score: toProbability(output, weights, entailment) });
        signal?.throwIfAborted();
      }
      return scored.toSorted((a, b) => b.score - a.score || a.index - b.index).slice(0, topN);
    },
    close: model.stop,
  };
}

/** From one logit for relevant, two for irrelevant and relevant, or the logits of labels with one for entailment. */
function toProbability(output: Float32Array, weights: string, entailment: number | undefined): number {
  const [first, second] = output;
  const entailed = entailment === undefined ? undefined : output[entailment];
  if (entailed !== undefined && output.length <= MOST_LABELS && output.every(Number.isFinite)) {
    return 1 / output.reduce((sum, logit) => sum + Math.exp(logit - entailed), 0);
  }
  if (first !== undefined && output.length <= 2 && output.every(Number.isFinite)) {
    return 1 / (1 + Math.exp(second === undefined ? -first : first - second));
  }
  throw new AppError(
    'configuration_error',
    `The model ${weights} is no cross-encoder: it returns ${output.length} numbers for a pair of texts, not one.`,
    { hint: advice`Use an encoder of single texts as ${settingName('embedder')}.` },
  );
}
