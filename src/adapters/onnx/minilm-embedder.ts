import { availableParallelism } from 'node:os';
import type { Embedder } from '../../ports/embedder.ts';
import { batchesByLength } from './batches-by-length.ts';
import type { FetchWeightsOptions } from './fetch-weights.ts';
import { createPooling } from './pooling.ts';
import { loadModelFiles, MODEL_NAME, MODEL_REVISION, type WeightsLocation } from './weights.ts';

const MAX_TOKENS = 256;
/** The longest input is cut here by the tokens around it: [CLS] and [SEP]. */
const SEPARATOR_TOKEN = 102;

/** What is known of the embedder before anything is loaded. */
export const MINILM = {
  id: `onnx:${MODEL_NAME}-int8@${MODEL_REVISION.slice(0, 8)}`,
  dimensions: 384,
  maxTokens: MAX_TOKENS,
  batchSize: 32,
  scoreThreshold: 0.35,
} as const;

export interface MiniLmOptions extends FetchWeightsOptions {
  location: WeightsLocation;
}

/** all-MiniLM-L6-v2 on the CPU: fetched on first use, checked, loaded. */
export async function createMiniLmEmbedder({ location, ...fetching }: MiniLmOptions): Promise<Embedder> {
  const [files, runtime, { Tokenizer }] = await Promise.all([
    loadModelFiles(location, fetching),
    import('onnxruntime-node').then((module) => module.default),
    import('@huggingface/tokenizers'),
  ]);
  const tokenizer = new Tokenizer(
    JSON.parse(files['tokenizer.json'].toString()) as object,
    JSON.parse(files['tokenizer_config.json'].toString()) as object,
  );
  const session = await runtime.InferenceSession.create(files['onnx/model_quantized.onnx'], {
    intraOpNumThreads: availableParallelism(),
  });
  const embed = createPooling(session, runtime.Tensor, MINILM.dimensions);

  function tokensOf(text: string): number[] {
    const { ids } = tokenizer.encode(text);
    return ids.length <= MAX_TOKENS ? ids : [...ids.slice(0, MAX_TOKENS - 1), SEPARATOR_TOKEN];
  }

  return {
    ...MINILM,
    countTokens: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length,
    async embedDocuments(texts, signal) {
      const inputs = texts.map(tokensOf);
      const vectors = new Array<Float32Array>(texts.length);
      for (const batch of batchesByLength(inputs.map((ids) => ids.length))) {
        signal?.throwIfAborted();
        const embedded = await embed(batch.map((index) => inputs[index] ?? []));
        batch.forEach((index, position) => {
          vectors[index] = embedded[position] as Float32Array;
        });
      }
      return vectors;
    },
    async embedQuery(text, signal) {
      signal?.throwIfAborted();
      const [vector] = await embed([tokensOf(text)]);
      return vector as Float32Array;
    },
    close: () => session.release(),
  };
}
