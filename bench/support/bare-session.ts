import { setImmediate } from 'node:timers/promises';
import { Tokenizer } from '@huggingface/tokenizers';
import { Tensor } from 'onnxruntime-common';
import { ensureOnnxEngine } from '../../src/adapters/onnx/engine.ts';
import { MINILM_DESCRIPTION } from '../../src/adapters/onnx/minilm-embedder.ts';
import { loadOnnxEngine } from '../../src/adapters/onnx/model-session.ts';
import { loadModelFiles } from '../../test/support/model-files.ts';
import { findProgramWeights } from './load-embedder.ts';

type Feeds = Record<string, Tensor>;

/** Padded tokens per batch. Larger batches exceed the CPU cache and are slower. */
const BATCH_TOKENS = 1024;

/** The model alone: the upper limit for the speed of an ingest. */
export interface BareSession {
  /** Runs prepared inputs and discards the output. */
  run(batches: readonly Feeds[]): Promise<void>;
  close(): Promise<void>;
}

export async function createBareSession(threads: number): Promise<BareSession> {
  const files = await loadModelFiles(findProgramWeights(), {});
  process.env.ORT_DISABLE_TELEMETRY = '1';
  const { InferenceSession } = loadOnnxEngine(await ensureOnnxEngine(findProgramWeights()));
  const session = new InferenceSession();
  const { buffer, byteOffset, byteLength } = files['onnx/model_quantized.onnx'];
  session.loadModel(buffer, byteOffset, byteLength, { intraOpNumThreads: threads });
  return {
    async run(batches) {
      for (const feeds of batches) {
        session.run(feeds, { last_hidden_state: null }, {});
        await setImmediate();
      }
    },
    close: async () => session.dispose(),
  };
}

export type MakeBatches = (texts: readonly string[], batchTokens?: number) => Feeds[];

/** Tokenizes texts into batches of similar length, the fastest way to run the model. */
export async function createBatchMaker(): Promise<MakeBatches> {
  const files = await loadModelFiles(findProgramWeights(), {});
  const tokenizer = new Tokenizer(
    JSON.parse(files['tokenizer.json'].toString()) as object,
    JSON.parse(files['tokenizer_config.json'].toString()) as object,
  );
  return (texts, batchTokens = BATCH_TOKENS) => {
    const inputs = texts.map((text) => tokenizer.encode(text).ids.slice(0, MINILM_DESCRIPTION.maxTokens));
    const lengths = inputs.map((ids) => ids.length);
    return [...batchesByLength(lengths, batchTokens)].map((batch) =>
      toFeeds(batch.map((index) => inputs[index] ?? [])),
    );
  };
}

function toFeeds(inputs: readonly number[][]): Feeds {
  const width = Math.max(...inputs.map((ids) => ids.length));
  const ids = new BigInt64Array(inputs.length * width);
  const mask = new BigInt64Array(inputs.length * width);
  inputs.forEach((tokens, row) => {
    tokens.forEach((token, column) => {
      ids[row * width + column] = BigInt(token);
      mask[row * width + column] = 1n;
    });
  });
  const tensor = (data: BigInt64Array) => new Tensor('int64', data, [inputs.length, width]);
  return {
    input_ids: tensor(ids),
    attention_mask: tensor(mask),
    token_type_ids: tensor(new BigInt64Array(inputs.length * width)),
  };
}

/** Groups inputs of similar length to minimize padding. Yields their indices, longest first. */
function* batchesByLength(lengths: readonly number[], batchTokens: number): Generator<number[]> {
  const byLength = lengths.map((_, index) => index);
  byLength.sort((a, b) => (lengths[b] ?? 0) - (lengths[a] ?? 0));
  let batch: number[] = [];
  let width = 0;
  for (const index of byLength) {
    if (batch.length > 0 && (batch.length + 1) * width > batchTokens) {
      yield batch;
      batch = [];
    }
    if (batch.length === 0) width = lengths[index] ?? 0;
    batch.push(index);
  }
  if (batch.length > 0) yield batch;
}
