import type { Embedder } from '../../ports/embedder.ts';
import { batchesByLength } from './batches-by-length.ts';
import type { FetchWeightsOptions } from './fetch-weights.ts';
import { startModel } from './start-model.ts';
import { ensureModel, MODEL_NAME, MODEL_REVISION, readModelFile, type WeightsLocation } from './weights.ts';
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
  scoreThreshold: 0.35,
} as const;

export interface MiniLmOptions extends FetchWeightsOptions {
  location: WeightsLocation;
  /** For many texts; a question should leave the cores to the rest of a program that is just starting. */
  bulk?: boolean | undefined;
}

/** all-MiniLM-L6-v2 on the CPU: fetched on first use, checked, loaded. */
export async function createMiniLmEmbedder({
  location,
  bulk = false,
  ...fetching
}: MiniLmOptions): Promise<Embedder> {
  await ensureModel(location, fetching);
  const starting = startModel({
    directory: location.directory,
    dimensions: MINILM.dimensions,
    spinning: bulk,
  });
  // Waited for below; a fault of it must not count as unhandled until then.
  starting.catch(() => {});
  const tokenize = createTokenize(await readVocabulary(location));
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
    // The same query comes from the search and then from who looks for the best sentences in what it found.
    async embedQuery(text, signal) {
      signal?.throwIfAborted();
      if (lastQuery?.text === text) return lastQuery.vector.slice();
      const [vector] = await model.embed([tokensOf(text)]);
      lastQuery = { text, vector: vector as Float32Array };
      return lastQuery.vector.slice();
    },
    close: model.stop,
  };
}

async function readVocabulary({ directory }: WeightsLocation): Promise<Vocabulary> {
  const bytes = await readModelFile(directory, 'tokenizer.json');
  const { model } = JSON.parse(bytes?.toString() ?? '{"model":{}}') as { model: { vocab?: Vocabulary } };
  return model.vocab ?? {};
}
