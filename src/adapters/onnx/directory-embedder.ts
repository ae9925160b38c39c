import { AppError } from '../../faults/app-error.ts';
import { type Embedder, RELEVANT_FROM } from '../../ports/embedder.ts';
import type { EncoderDirectory } from './encoder-directory.ts';
import { type ForeignTokens, readForeignTokens } from './foreign-tokens.ts';
import { startModelPool } from './model-pool.ts';
import { createModelThreads, type ModelThreads } from './model-threads.ts';

const BATCH_SIZE = 32;

interface DirectoryEmbedderOptions {
  /** The directory of the native library. */
  engine: string;
  /** Shared by models of the same process. */
  modelThreads?: ModelThreads;
  bulk?: boolean | undefined;
}

/** What is known of such an embedder before it is loaded. */
export function describeDirectoryEmbedder({ id, dimensions, baseline, threshold }: EncoderDirectory) {
  return {
    id,
    dimensions,
    baseline: baseline ?? 0,
    // What its cosines are like is not known before they are looked at.
    scoreThreshold: threshold ?? (baseline === undefined ? 0 : RELEVANT_FROM),
  };
}

/** A sentence-transformers model that someone exported to ONNX, on the CPU. */
export async function createDirectoryEmbedder(
  encoder: EncoderDirectory,
  { engine, bulk = false, modelThreads = createModelThreads() }: DirectoryEmbedderOptions,
): Promise<Embedder> {
  const { queryPrefix, passagePrefix, maxTokens } = encoder;
  const tokens = await readForeignTokens(encoder.directory);
  const model = await startModelPool(modelThreads, {
    engine,
    weights: { path: encoder.weights },
    pooling: encoder.pooling ?? null,
    bulk,
  });
  const inputOf = (text: string) => tokens.input(text, maxTokens);
  let lastQuery: { text: string; vector: Float32Array } | undefined;
  try {
    const dimensions = await probe(encoder, tokens, model);
    return {
      ...describeDirectoryEmbedder(encoder),
      dimensions,
      // A prefix is part of what the model reads.
      maxTokens: maxTokens - tokens.count(passagePrefix),
      batchSize: BATCH_SIZE,
      countTokens: tokens.count,
      embedDocuments: (texts, signal) =>
        model.embedAll(
          texts.map((text) => inputOf(passagePrefix + text)),
          signal,
        ),
      async embedQuery(text, signal) {
        signal?.throwIfAborted();
        if (lastQuery?.text === text) return lastQuery.vector.slice();
        lastQuery = { text, vector: await model.embed(inputOf(queryPrefix + text)) };
        return lastQuery.vector.slice();
      },
      close: model.stop,
    };
  } catch (error) {
    await model.stop();
    throw error;
  }
}

/** One text tells whether the model gives what its files say, before anything is made of it. */
async function probe(
  { weights, dimensions, maxTokens }: EncoderDirectory,
  tokens: ForeignTokens,
  model: { embed(input: readonly number[]): Promise<Float32Array> },
): Promise<number> {
  const vector = await model.embed(tokens.input('What is this?', maxTokens)).catch((error: unknown) => {
    throw new AppError('configuration_error', `The model ${weights} cannot be run: ${firstLine(error)}`, {
      hint: 'Do its tokenizer and its weights belong together?',
      cause: error,
    });
  });
  if (!vector.every(Number.isFinite) || !vector.some((value) => value !== 0)) {
    throw new AppError('configuration_error', `The model ${weights} gives something other than numbers.`, {
      hint: 'Weights of another precision may work: some give no sound numbers on a CPU.',
    });
  }
  if (dimensions === undefined || dimensions === vector.length) return vector.length;
  throw new AppError(
    'configuration_error',
    `The model ${weights} gives ${vector.length} dimensions, and the files beside it say ${dimensions}.`,
    { hint: 'Are they of the same model?' },
  );
}

function firstLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line;
}
