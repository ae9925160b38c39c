import { DEFAULT_SCORE_THRESHOLD, type Embedder } from '../../ports/embedder.ts';
import { type EncodedText, sumTokenVectors, type TokenEncoder } from '../../ports/token-encoder.ts';
import { ensureOnnxEngine } from './engine.ts';
import type { DownloadProgress } from './fetch-package.ts';
import { startModelPool } from './model-pool.ts';
import { createModelThreads, type ModelThreads, type RunningModel } from './model-threads.ts';
import {
  ensureWeights,
  MODEL_NAME,
  MODEL_REVISION,
  type ModelLocation,
  readModelFile,
  type WeightsLocation,
} from './weights.ts';
import { createTokenizer, toModelInput, type Vocabulary, type WordPieceTokenizer } from './word-pieces.ts';

/** Includes the two special tokens around a text. */
const MAX_TOKENS = 256;
const SPECIAL_TOKENS = 2;
const DIMENSIONS = 384;

/** Keys, hashes and encoded files. They count one token per character, because tokenizing them is slow. */
const LONG_WORD = /[^\s]{100,}/g;

export const MINILM_DESCRIPTION = {
  id: `onnx:${MODEL_NAME}-int8@${MODEL_REVISION.slice(0, 8)}`,
  dimensions: DIMENSIONS,
  maxTokens: MAX_TOKENS,
  batchSize: 32,
  scoreThreshold: DEFAULT_SCORE_THRESHOLD,
} as const;

interface MiniLmOptions {
  location: ModelLocation;
  /** Shared by the embedders of a process. */
  modelThreads?: ModelThreads;
  /** Whether many texts will be embedded: then several copies of the model run side by side. */
  bulk?: boolean | undefined;
  onProgress?: ((part: 'weights' | 'engine', ...progress: Parameters<DownloadProgress>) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** all-MiniLM-L6-v2 on the CPU. Downloads the weights and ONNX Runtime on first use. */
export async function createMiniLmEmbedder({
  location,
  modelThreads = createModelThreads(),
  bulk = false,
  onProgress,
  signal,
}: MiniLmOptions): Promise<Embedder & TokenEncoder> {
  const downloading = (part: 'weights' | 'engine') => ({
    signal,
    onProgress: (...progress: Parameters<DownloadProgress>) => onProgress?.(part, ...progress),
  });
  await ensureWeights(location, downloading('weights'));
  const engine = await ensureOnnxEngine(location, downloading('engine'));
  const starting = startModelPool(modelThreads, {
    engine,
    weights: { directory: location.directory },
    pooling: 'mean',
    bulk,
  });
  // Awaited below; until then a rejection must not count as unhandled.
  starting.catch(() => {});
  const vocabulary = await readVocabulary(location);
  const tokenizer = createTokenizer(vocabulary);
  const model = await starting;
  const toInput = (text: string) => toModelInput(tokenizer.tokenize(text), MAX_TOKENS);
  let lastQuery: { text: string; vector: Float32Array } | undefined;

  return {
    ...MINILM_DESCRIPTION,
    countTokens(text) {
      let longWords = 0;
      const ordinary = text.replace(LONG_WORD, (word) => {
        longWords += word.length;
        return ' ';
      });
      return tokenizer.tokenize(ordinary).length + longWords;
    },
    embedDocuments: (texts, signal) => model.embedAll(texts.map(toInput), signal),
    // The last query is kept, because the search and the judge embed the same one.
    async embedQuery(text, signal) {
      signal?.throwIfAborted();
      if (lastQuery?.text === text) return lastQuery.vector.slice();
      lastQuery = { text, vector: await model.embed(toInput(text)) };
      return lastQuery.vector.slice();
    },
    async encodeTokens(texts, signal) {
      const encoded: EncodedText[] = [];
      for (const text of texts) encoded.push(await encodeText(text, model, tokenizer, signal));
      return encoded;
    },
    close: model.stop,
  };
}

async function readVocabulary({ directory }: WeightsLocation): Promise<Vocabulary> {
  const bytes = await readModelFile(directory, 'tokenizer.json');
  const { model } = JSON.parse(bytes?.toString() ?? '{"model":{}}') as { model: { vocab?: Vocabulary } };
  return model.vocab ?? {};
}

/** One run of the model per window: in a batch, int8 weights make the vectors of a text depend on the other texts. */
async function encodeText(
  text: string,
  model: Pick<RunningModel, 'encode'>,
  tokenizer: WordPieceTokenizer,
  signal: AbortSignal | undefined,
): Promise<EncodedText> {
  const { ids, starts, ends } = tokenizer.locate(text);
  const windows = splitIntoWindows(ids.length, MAX_TOKENS - SPECIAL_TOKENS);
  let states: Float32Array = new Float32Array(windows.length > 1 ? ids.length * DIMENSIONS : 0);
  const sum = new Float64Array(DIMENSIONS);
  for (const { start, end, from, to } of windows) {
    signal?.throwIfAborted();
    const output = await model.encode(toModelInput(ids.slice(start, end), MAX_TOKENS));
    const first = (1 + from - start) * DIMENSIONS;
    const used = output.subarray(first, first + (to - from) * DIMENSIONS);
    // The output of a single window is used without copying it.
    if (windows.length > 1) states.set(used, from * DIMENSIONS);
    else states = used;
    const mean = new Float64Array(DIMENSIONS);
    sumTokenVectors(mean, output, 0, output.length / DIMENSIONS);
    sumTokenVectors(sum, toUnitLength(mean), 0, 1);
  }
  return {
    starts: Uint32Array.from(starts),
    ends: Uint32Array.from(ends),
    states,
    vector: Float32Array.from(toUnitLength(sum)),
  };
}

/** Tokens that two neighbouring windows share; each is taken from the window with more context around it. */
const WINDOW_OVERLAP = 48;

interface TokenWindow {
  start: number;
  end: number;
  /** The tokens whose vectors are taken from this window. */
  from: number;
  to: number;
}

/** Overlapping windows of at most `size` tokens that cover all tokens. */
export function splitIntoWindows(tokenCount: number, size: number): TokenWindow[] {
  const windows: TokenWindow[] = [];
  for (let start = 0; ; start += size - WINDOW_OVERLAP) {
    const end = Math.min(tokenCount, start + size);
    const isLast = end === tokenCount;
    const from = windows.at(-1)?.to ?? 0;
    windows.push({ start, end, from, to: isLast ? end : end - WINDOW_OVERLAP / 2 });
    if (isLast) return windows;
  }
}

function toUnitLength(vector: Float64Array): Float64Array {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
