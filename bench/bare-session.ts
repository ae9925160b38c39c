import { Tokenizer } from '@huggingface/tokenizers';
import runtime, { type Tensor } from 'onnxruntime-node';
import { batchesByLength } from '../src/adapters/onnx/batches-by-length.ts';
import { MINILM } from '../src/adapters/onnx/minilm-embedder.ts';
import { loadModelFiles } from '../test/support/model-files.ts';
import { programWeights } from './minilm.ts';

type Feeds = Record<string, Tensor>;

/** The model and nothing around it: what an ingest can reach at best. */
export interface BareSession {
  /** Runs inputs that were made before, and drops what comes out. */
  run(batches: readonly Feeds[]): Promise<void>;
  close(): Promise<void>;
}

export async function createBareSession(threads: number): Promise<BareSession> {
  const files = await loadModelFiles(programWeights(), {});
  const session = await runtime.InferenceSession.create(files['onnx/model_quantized.onnx'], {
    intraOpNumThreads: threads,
  });
  return {
    async run(batches) {
      for (const feeds of batches) await session.run(feeds);
    },
    close: () => session.release(),
  };
}

export type MakeBatches = (texts: readonly string[], batchTokens?: number) => Feeds[];

/** Turns texts into the model's inputs, in the very batches that the embedder would make of them. */
export async function createBatchMaker(): Promise<MakeBatches> {
  const files = await loadModelFiles(programWeights(), {});
  const tokenizer = new Tokenizer(
    JSON.parse(files['tokenizer.json'].toString()) as object,
    JSON.parse(files['tokenizer_config.json'].toString()) as object,
  );
  return (texts, batchTokens) => {
    const inputs = texts.map((text) => tokenizer.encode(text).ids.slice(0, MINILM.maxTokens));
    const lengths = inputs.map((ids) => ids.length);
    return [...batchesByLength(lengths, batchTokens)].map((batch) =>
      feedsOf(batch.map((index) => inputs[index] ?? [])),
    );
  };
}

function feedsOf(inputs: readonly number[][]): Feeds {
  const width = Math.max(...inputs.map((ids) => ids.length));
  const ids = new BigInt64Array(inputs.length * width);
  const mask = new BigInt64Array(inputs.length * width);
  inputs.forEach((tokens, line) => {
    tokens.forEach((token, column) => {
      ids[line * width + column] = BigInt(token);
      mask[line * width + column] = 1n;
    });
  });
  const tensor = (data: BigInt64Array) => new runtime.Tensor('int64', data, [inputs.length, width]);
  return {
    input_ids: tensor(ids),
    attention_mask: tensor(mask),
    token_type_ids: tensor(new BigInt64Array(inputs.length * width)),
  };
}
