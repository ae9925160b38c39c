import { availableParallelism } from 'node:os';
import type { openEncoderSource } from '../adapters/onnx/encoder-source.ts';
import type { EngineLocation } from '../adapters/onnx/engine.ts';
import { createMiniLmEmbedder, MINILM_DESCRIPTION } from '../adapters/onnx/minilm-embedder.ts';
import type { LocalReranker } from '../adapters/onnx/onnx-reranker.ts';
import { resolveModelLocation } from '../adapters/onnx/weights.ts';
import type { AppConfig } from '../config/load-config.ts';
import { advice, settingName, settingValue } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { AppEvent } from './app-event.ts';
import { modelThreads } from './model-thread.ts';
import { configuredSecrets } from './run-settings.ts';

const TIMEOUT_MS = 60_000;
const OPENAI_DEFAULT_MODEL = 'text-embedding-3-small';

/** What is known about an embedder before it is loaded; some report their dimensions only with the first vector. */
export type EmbedderDescription = Pick<Embedder, 'id' | 'scoreThreshold' | 'baseline' | 'hasWords'> & {
  dimensions: number | undefined;
};

export interface ModelLoadOptions {
  /** Receives download progress and retries. */
  emit: (event: AppEvent) => void;
  runtime: Pick<Runtime, 'sleep' | 'random'>;
  signal?: AbortSignal | undefined;
  /** Tunes the embedder for many texts at a time. */
  bulk?: boolean | undefined;
}

/** The configured embedder. Its adapter is imported on first use. */
interface EmbedderChoice {
  describe(): Promise<EmbedderDescription>;
  load(options: ModelLoadOptions): Promise<Embedder>;
}

export function selectEmbedder(config: AppConfig): EmbedderChoice {
  const choices = { minilm, cohere, openai, onnx };
  return choices[config.embedding.embedder](config);
}

function minilm({ cache, modelDir }: AppConfig): EmbedderChoice {
  return {
    describe: async () => MINILM_DESCRIPTION,
    load: ({ emit, signal, bulk }) =>
      createMiniLmEmbedder({
        modelThreads,
        location: resolveModelLocation(cache, modelDir),
        onProgress: (part, received, total) =>
          emit({ type: 'model_download_progress', part, received, total }),
        signal,
        bulk,
      }).finally(() => emit({ type: 'model_download_ended' })),
  };
}

/** An ONNX model in a directory of the user. */
function onnx({ cache, modelDir, embedding }: AppConfig): EmbedderChoice {
  const reading = async () => {
    const { readOnnxDirectory } = await import('../adapters/onnx/onnx-directory.ts');
    return readOnnxDirectory(embedding.directory ?? '');
  };
  const loading = () => import('../adapters/onnx/onnx-embedder.ts');
  return {
    describe: async () => (await loading()).describeOnnxEmbedder(await reading()),
    async load({ emit, signal, bulk }) {
      const { createOnnxEmbedder } = await loading();
      const encoder = await reading();
      const engine = await fetchEngine({ cache, modelDir }, { emit, signal });
      return createOnnxEmbedder(encoder, { engine, bulk, modelThreads });
    },
  };
}

/** The ONNX runtime, downloaded on first use. */
async function fetchEngine(
  { cache, modelDir }: Pick<AppConfig, 'cache' | 'modelDir'>,
  { emit, signal }: Pick<ModelLoadOptions, 'emit' | 'signal'>,
): Promise<EngineLocation> {
  const { ensureOnnxEngine } = await import('../adapters/onnx/engine.ts');
  return ensureOnnxEngine(resolveModelLocation(cache, modelDir), {
    signal,
    onProgress: (received, total) =>
      emit({ type: 'model_download_progress', part: 'engine', received, total }),
  }).finally(() => emit({ type: 'model_download_ended' }));
}

/** A cross-encoder in a directory of the user. */
export async function loadReranker(
  config: AppConfig,
  directory: string,
  options: ModelLoadOptions,
): Promise<LocalReranker> {
  const { readOnnxDirectory } = await import('../adapters/onnx/onnx-directory.ts');
  const { createOnnxReranker } = await import('../adapters/onnx/onnx-reranker.ts');
  const encoder = await readOnnxDirectory(directory);
  const engine = await fetchEngine(config, options);
  return createOnnxReranker(encoder, { engine, threads: availableParallelism(), modelThreads });
}

/** A repository of the hub, or a directory. */
export const openEncoder: typeof openEncoderSource = async (...args) =>
  (await import('../adapters/onnx/encoder-source.ts')).openEncoderSource(...args);

/** Loads a model once to find out what it is for. Throws what is wrong with it. */
export async function probeEncoder(config: AppConfig, directory: string, options: ModelLoadOptions) {
  const { readOnnxDirectory } = await import('../adapters/onnx/onnx-directory.ts');
  const { entailment } = await readOnnxDirectory(directory);
  const crossEncoder = await loadReranker(config, directory, options);
  const results = await crossEncoder.rerank('query', ['passage'], 1).catch(() => []);
  await crossEncoder.close();
  const kind = entailment === undefined ? 'reranker' : 'entailment';
  if (results.length > 0) return { kind, dimensions: null } as const;
  const embedder = await onnx({ ...config, embedding: { ...config.embedding, directory } }).load(options);
  await embedder.close();
  return { kind: 'encoder', dimensions: embedder.dimensions } as const;
}

function cohere(config: AppConfig): EmbedderChoice {
  const { embedding, cohereKey, cohereBaseUrl } = config;
  const { model } = embedding;
  const loading = () => import('../adapters/cohere/cohere-embedder.ts');
  return {
    describe: async () => (await loading()).describeCohereEmbedder(model),
    async load({ emit, runtime }) {
      const { createCohereEmbedder } = await loading();
      const apiKey = cohereKey?.reveal();
      if (apiKey === undefined) throw missingKeyError('Cohere embeddings need', 'COHERE_API_KEY');
      return createCohereEmbedder({
        apiKey,
        secrets: configuredSecrets(config),
        baseUrl: cohereBaseUrl,
        model,
        timeoutMs: TIMEOUT_MS,
        onRetry: (retry) => emit({ type: 'retry', ...retry }),
        sleep: runtime.sleep,
        random: runtime.random,
      });
    },
  };
}

function openai(config: AppConfig): EmbedderChoice {
  const { model: named, dimensions, service } = config.embedding;
  const { baseUrl, key, keyVariable, needsKey } = service;
  const loading = () => import('../adapters/openai/openai-embedder.ts');
  const model = () => named ?? defaultModelAt(baseUrl);
  return {
    describe: async () => (await loading()).describeOpenAiEmbedder({ baseUrl, model: model(), dimensions }),
    async load({ emit, runtime, signal }) {
      const { createOpenAiEmbedder } = await loading();
      if (needsKey && key === undefined) {
        throw missingKeyError(`Embeddings of ${new URL(baseUrl).host} need`, keyVariable);
      }
      return createOpenAiEmbedder({
        apiKey: key?.reveal(),
        secrets: configuredSecrets(config),
        keyVariable,
        baseUrl,
        model: model(),
        dimensions,
        timeoutMs: TIMEOUT_MS,
        signal,
        onRetry: (retry) => emit({ type: 'retry', ...retry }),
        sleep: runtime.sleep,
        random: runtime.random,
      });
    },
  };
}

function defaultModelAt(baseUrl: string): string {
  if (new URL(baseUrl).hostname === 'api.openai.com') return OPENAI_DEFAULT_MODEL;
  throw new AppError('configuration_error', `No embedding model is set for ${new URL(baseUrl).host}.`, {
    hint: advice`Set ${settingName('embeddingModel')} or EMBEDDING_MODEL.`,
  });
}

function missingKeyError(subject: string, variable: string): AppError {
  return new AppError('auth_error', `${subject} a key, and ${variable} is not set.`, {
    hint: advice`Set ${variable} in the environment or in .env, or use ${settingValue('embedder', 'minilm', 'the embedder minilm')}, which needs none.`,
  });
}
