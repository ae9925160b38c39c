import { type Embedder, RELEVANT_FROM } from '../../ports/embedder.ts';
import type { TokenEncoder } from '../../ports/token-encoder.ts';
import { createEncodeTokens } from './encode-tokens.ts';
import { ensureEngine } from './engine.ts';
import type { FetchProgress } from './fetch-package.ts';
import { startModelPool } from './model-pool.ts';
import { createModelThreads, type ModelThreads } from './model-threads.ts';
import {
  ensureModel,
  MODEL_NAME,
  MODEL_REVISION,
  type ModelLocation,
  readModelFile,
  type WeightsLocation,
} from './weights.ts';
import { asInput, createTokenize, type Vocabulary } from './word-pieces.ts';

/** The tokens around an input count. */
const MAX_TOKENS = 256;

/** Nobody's word: keys, hashes, encoded files. A word has no more tokens than characters, and finding out how many takes long. */
const LONG_WORD = /[^\s]{100,}/g;

/** What is known of the embedder before anything is loaded. */
export const MINILM = {
  id: `onnx:${MODEL_NAME}-int8@${MODEL_REVISION.slice(0, 8)}`,
  dimensions: 384,
  maxTokens: MAX_TOKENS,
  batchSize: 32,
  scoreThreshold: RELEVANT_FROM,
} as const;

interface MiniLmOptions {
  /** Shared by embedders of the same process. */
  modelThreads?: ModelThreads;
  location: ModelLocation;
  /** For many texts: they are embedded side by side, and nothing else is to be done meanwhile. */
  bulk?: boolean | undefined;
  onProgress?: ((part: 'weights' | 'engine', ...progress: Parameters<FetchProgress>) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** all-MiniLM-L6-v2 on the CPU: fetched on first use, checked, loaded. */
export async function createMiniLmEmbedder({
  modelThreads = createModelThreads(),
  location,
  bulk = false,
  onProgress,
  signal,
}: MiniLmOptions): Promise<Embedder & TokenEncoder> {
  const fetching = (part: 'weights' | 'engine') => ({
    signal,
    onProgress: (...progress: Parameters<FetchProgress>) => onProgress?.(part, ...progress),
  });
  await ensureModel(location, fetching('weights'));
  const engine = await ensureEngine(location, fetching('engine'));
  const starting = startModelPool(modelThreads, {
    engine,
    weights: { directory: location.directory },
    pooling: 'mean',
    bulk,
  });
  // Waited for below; a fault of it must not count as unhandled until then.
  starting.catch(() => {});
  const vocabulary = await readVocabulary(location);
  const tokenize = createTokenize(vocabulary);
  const model = await starting;
  const tokensOf = (text: string) => asInput(tokenize(text), MAX_TOKENS);
  let lastQuery: { text: string; vector: Float32Array } | undefined;

  return {
    ...MINILM,
    countTokens(text) {
      let longWords = 0;
      const ordinary = text.replace(LONG_WORD, (word) => {
        longWords += word.length;
        return ' ';
      });
      return tokenize(ordinary).length + longWords;
    },
    knowsWord: (word) => Object.hasOwn(vocabulary, word),
    embedDocuments: (texts, signal) => model.embedAll(texts.map(tokensOf), signal),
    // The same query comes from the search and then from who looks for the best sentences in what it found.
    async embedQuery(text, signal) {
      signal?.throwIfAborted();
      if (lastQuery?.text === text) return lastQuery.vector.slice();
      lastQuery = { text, vector: await model.embed(tokensOf(text)) };
      return lastQuery.vector.slice();
    },
    encodeTokens: createEncodeTokens(model, tokenize, MINILM),
    close: model.stop,
  };
}

async function readVocabulary({ directory }: WeightsLocation): Promise<Vocabulary> {
  const bytes = await readModelFile(directory, 'tokenizer.json');
  const { model } = JSON.parse(bytes?.toString() ?? '{"model":{}}') as { model: { vocab?: Vocabulary } };
  return model.vocab ?? {};
}
