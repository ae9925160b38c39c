import { DEFAULT_SCORE_THRESHOLD, type Embedder, type TextEmbedding } from '../../ports/embedder.ts';
import { findContentWords } from '../../text/content-words.ts';
import { ensureOnnxEngine } from './engine.ts';
import type { DownloadProgress } from './fetch-package.ts';
import { startModelPool } from './model-pool.ts';
import { createModelThreads, type ModelThreads, type RunningModel } from './model-threads.ts';
import type { TokenRange } from './project-words.ts';
import {
  ensureWeights,
  MODEL_NAME,
  MODEL_REVISION,
  type ModelLocation,
  readModelFile,
  type WeightsLocation,
} from './weights.ts';
import { createTokenizer, type LocatedTokens, toModelInput, type Vocabulary } from './word-pieces.ts';

/** Includes the two special tokens around a text. */
const MAX_TOKENS = 256;
const DIMENSIONS = 384;

/** Keys, hashes and encoded files. They count one token per character, because tokenizing them is slow. */
const LONG_WORD = /[^\s]{100,}/g;

export const MINILM_DESCRIPTION = {
  id: `onnx:${MODEL_NAME}-int8@${MODEL_REVISION.slice(0, 8)}`,
  dimensions: DIMENSIONS,
  maxTokens: MAX_TOKENS,
  batchSize: 32,
  scoreThreshold: DEFAULT_SCORE_THRESHOLD,
  isEnglishOnly: true,
  hasWords: true,
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
}: MiniLmOptions): Promise<Embedder> {
  const downloading = (part: 'weights' | 'engine') => ({
    signal,
    onProgress: (...progress: Parameters<DownloadProgress>) => onProgress?.(part, ...progress),
  });
  await ensureWeights(location, downloading('weights'));
  const engine = await ensureOnnxEngine(location, downloading('engine'));
  const starting = startModelPool(modelThreads, {
    engine,
    weights: { directory: location.directory, isCached: location.isDownloadable },
    pooling: 'mean',
    bulk,
  });
  // Awaited below; until then a rejection must not count as unhandled.
  starting.catch(() => {});
  const vocabulary = await readVocabulary(location);
  const tokenizer = createTokenizer(vocabulary);
  const model = await starting;
  const toInput = (text: string) => toModelInput(tokenizer.tokenize(text), MAX_TOKENS);
  let lastQuery: ({ text: string } & TextEmbedding) | undefined;

  function embedWithWords(on: RunningModel, text: string): Promise<TextEmbedding> {
    const located = tokenizer.locate(text);
    return on.embedWords(toModelInput(located.ids, MAX_TOKENS), findWordTokens(text, located));
  }

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
    embedDocuments: (texts, signal) => model.runAll(texts, (copy, text) => copy.embed(toInput(text)), signal),
    // The last query is kept, because the search and the reranking embed the same one.
    async embedQuery(text, signal) {
      signal?.throwIfAborted();
      if (lastQuery?.text !== text) lastQuery = { text, ...(await embedWithWords(model, text)) };
      return lastQuery.vector.slice();
    },
    async embedWords(texts, signal) {
      signal?.throwIfAborted();
      if (lastQuery !== undefined && texts.length === 1 && lastQuery.text === texts[0]) {
        return [{ vector: lastQuery.vector.slice(), words: lastQuery.words }];
      }
      return model.runAll(texts, embedWithWords, signal);
    },
    close: model.stop,
  };
}

export async function readVocabulary({ directory }: WeightsLocation): Promise<Vocabulary> {
  const bytes = await readModelFile(directory, 'tokenizer.json');
  const { model } = JSON.parse(bytes?.toString() ?? '{"model":{}}') as { model: { vocab?: Vocabulary } };
  return model.vocab ?? {};
}

/** The tokens of each content word in the model's input, which starts with a special token. */
function findWordTokens(text: string, { starts, ends }: LocatedTokens): TokenRange[] {
  let token = 0;
  return findContentWords(text).map(({ start, end }) => {
    while (token < starts.length && (ends[token] ?? 0) <= start) token += 1;
    const from = token;
    while (token < starts.length && (starts[token] ?? 0) < end) token += 1;
    const limit = (at: number) => Math.min(at + 1, MAX_TOKENS - 1);
    return [limit(from), limit(token)];
  });
}
