import type { Embedder } from '../../ports/embedder.ts';
import { batchesByLength } from './batches-by-length.ts';
import type { FetchWeightsOptions } from './fetch-weights.ts';
import { startModel } from './start-model.ts';
import {
  ensureModel,
  MODEL_NAME,
  MODEL_REVISION,
  type ModelFile,
  readModelFile,
  type WeightsLocation,
} from './weights.ts';

const MAX_TOKENS = 256;
/** The longest input is cut here by the tokens around it: [CLS] and [SEP]. */
const SEPARATOR_TOKEN = 102;

/** Nobody's word: keys, hashes, encoded files. A word has no more tokens than characters, and finding out how many takes long. */
const LONG_WORD = /[^\s]{100,}/g;

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
  await ensureModel(location, fetching);
  const starting = startModel({ directory: location.directory, dimensions: MINILM.dimensions });
  // Waited for below; a fault of it must not count as unhandled until then.
  starting.catch(() => {});
  const [settings, { Tokenizer }] = await Promise.all([
    Promise.all([readJson(location, 'tokenizer.json'), readJson(location, 'tokenizer_config.json')]),
    import('@huggingface/tokenizers'),
  ]);
  const tokenizer = new Tokenizer(...settings);
  const model = await starting;

  function tokensOf(text: string): number[] {
    const { ids } = tokenizer.encode(text);
    return ids.length <= MAX_TOKENS ? ids : [...ids.slice(0, MAX_TOKENS - 1), SEPARATOR_TOKEN];
  }

  return {
    ...MINILM,
    countTokens(text) {
      let longWords = 0;
      const ordinary = text.replace(LONG_WORD, (word) => {
        longWords += word.length;
        return ' ';
      });
      return tokenizer.encode(ordinary, { add_special_tokens: false }).ids.length + longWords;
    },
    async embedDocuments(texts, signal) {
      const inputs = texts.map(tokensOf);
      const vectors = new Array<Float32Array>(texts.length);
      for (const batch of batchesByLength(inputs.map((ids) => ids.length))) {
        signal?.throwIfAborted();
        const embedded = await model.embed(batch.map((index) => inputs[index] ?? []));
        batch.forEach((index, position) => {
          vectors[index] = embedded[position] as Float32Array;
        });
      }
      return vectors;
    },
    async embedQuery(text, signal) {
      signal?.throwIfAborted();
      const [vector] = await model.embed([tokensOf(text)]);
      return vector as Float32Array;
    },
    close: model.stop,
  };
}

async function readJson({ directory }: WeightsLocation, file: ModelFile): Promise<object> {
  const bytes = await readModelFile(directory, file);
  return JSON.parse(bytes?.toString() ?? '{}') as object;
}
