import { AppError, messageOf } from '../../faults/app-error.ts';
import { DEFAULT_SCORE_THRESHOLD, type Embedder } from '../../ports/embedder.ts';
import type { EngineLocation } from './engine.ts';
import { startModelPool } from './model-pool.ts';
import { createModelThreads, type ModelThreads, type RunningModel } from './model-threads.ts';
import type { OnnxDirectory } from './onnx-directory.ts';
import { type OnnxTokenizer, readOnnxTokenizer } from './onnx-tokenizer.ts';

const BATCH_SIZE = 32;

interface OnnxEmbedderOptions {
  engine: EngineLocation;
  /** Shared by the models of a process. */
  modelThreads?: ModelThreads;
  bulk?: boolean | undefined;
}

export function describeOnnxEmbedder({ id, dimensions, baseline, threshold }: OnnxDirectory) {
  return {
    id,
    dimensions,
    baseline: baseline ?? 0,
    // Without a measured baseline nothing is known about the model's cosines.
    scoreThreshold: threshold ?? (baseline === undefined ? 0 : DEFAULT_SCORE_THRESHOLD),
  };
}

/** A sentence-transformers model that the user exported to ONNX, on the CPU. */
export async function createOnnxEmbedder(
  onnx: OnnxDirectory,
  { engine, bulk = false, modelThreads = createModelThreads() }: OnnxEmbedderOptions,
): Promise<Embedder> {
  const { queryPrefix, passagePrefix, maxTokens } = onnx;
  const tokenizer = await readOnnxTokenizer(onnx.directory);
  const model = await startModelPool(modelThreads, {
    engine,
    weights: { path: onnx.weights },
    pooling: onnx.pooling ?? null,
    bulk,
  });
  const toInput = (text: string) => tokenizer.encode(text, maxTokens);
  try {
    const dimensions = await probeDimensions(onnx, tokenizer, model);
    return {
      ...describeOnnxEmbedder(onnx),
      dimensions,
      // The prefix takes tokens of the input.
      maxTokens: maxTokens - tokenizer.count(passagePrefix),
      batchSize: BATCH_SIZE,
      countTokens: tokenizer.count,
      embedDocuments: (texts, signal) =>
        model.runAll(texts, (copy, text) => copy.embed(toInput(passagePrefix + text)), signal),
      async embedQuery(text, signal) {
        signal?.throwIfAborted();
        return model.embed(toInput(queryPrefix + text));
      },
      close: model.stop,
    };
  } catch (error) {
    await model.stop();
    throw error;
  }
}

/** Embeds one text to check that the model works and matches the files beside it. */
async function probeDimensions(
  { weights, dimensions, maxTokens }: OnnxDirectory,
  tokenizer: OnnxTokenizer,
  model: Pick<RunningModel, 'embed'>,
): Promise<number> {
  const input = tokenizer.encode('What is this?', maxTokens);
  const vector = await model.embed(input).catch((error: unknown) => {
    const [reason = ''] = messageOf(error).split('\n');
    throw new AppError('configuration_error', `The model ${weights} cannot be run: ${reason}`, {
      hint: 'Check that the tokenizer and the weights are of the same model.',
      cause: error,
    });
  });
  if (!vector.every(Number.isFinite) || !vector.some((value) => value !== 0)) {
    throw new AppError('configuration_error', `The model ${weights} returns invalid vectors.`, {
      hint: 'Try weights of another precision: some do not work on a CPU.',
    });
  }
  if (dimensions === undefined || dimensions === vector.length) return vector.length;
  throw new AppError(
    'configuration_error',
    `The model ${weights} has ${vector.length} dimensions, but the files beside it say ${dimensions}.`,
    { hint: 'Check that they are of the same model.' },
  );
}
