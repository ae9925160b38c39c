import { createMiniLmEmbedder, MINILM } from './adapters/onnx/minilm-embedder.ts';
import { weightsLocation } from './adapters/onnx/weights.ts';
import type { Config } from './config/load-config.ts';
import { AppError } from './domain/app-error.ts';
import type { Embedder } from './ports/embedder.ts';

const TIMEOUT_MS = 60_000;
const OPENAI_DEFAULT_MODEL = 'text-embedding-3-small';

/** What is known of an embedder before it is loaded or asked; some say their dimensions only then. */
export type DescribedEmbedder = Pick<Embedder, 'id' | 'scoreThreshold'> & { dimensions: number | undefined };

export interface LoadOptions {
  /** Hears of the model being fetched on first use. */
  onFetch?: ((received: number, total: number | null) => void) | undefined;
  /** Hears of waits for a service that is busy. */
  onNotice?: ((notice: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Many texts are to be embedded, and nothing else is to be done meanwhile. */
  bulk?: boolean | undefined;
}

/** The embedder that is configured. What belongs to a service is imported when it is asked for. */
export interface EmbedderChoice {
  describe(): Promise<DescribedEmbedder>;
  load(options: LoadOptions): Promise<Embedder>;
}

export function chooseEmbedder(config: Config): EmbedderChoice {
  const choices = { minilm, cohere, openai };
  return choices[config.embedding.embedder](config);
}

function minilm({ cache, modelDir }: Config): EmbedderChoice {
  return {
    describe: async () => MINILM,
    load: ({ onFetch, signal, bulk }) =>
      createMiniLmEmbedder({ location: weightsLocation(cache, modelDir), onProgress: onFetch, signal, bulk }),
  };
}

function cohere({ embedding: { model }, secrets, cohereBaseUrl }: Config): EmbedderChoice {
  const loading = () => import('./adapters/cohere/cohere-embedder.ts');
  return {
    describe: async () => (await loading()).describeCohereEmbedder(model),
    async load({ onNotice }) {
      const { createCohereEmbedder } = await loading();
      const apiKey = secrets.cohereApiKey?.reveal();
      if (apiKey === undefined) throw keyMissing("Cohere's embeddings need", 'COHERE_API_KEY');
      return createCohereEmbedder({
        apiKey,
        baseUrl: cohereBaseUrl,
        model,
        timeoutMs: TIMEOUT_MS,
        onRetry: noticeOf(onNotice),
      });
    },
  };
}

function openai({ embedding: { model: named, dimensions, service } }: Config): EmbedderChoice {
  const { baseUrl, key, keyVariable, needsKey } = service;
  const loading = () => import('./adapters/openai-embeddings/openai-embedder.ts');
  const model = () => named ?? defaultModelAt(baseUrl);
  return {
    describe: async () => (await loading()).describeOpenAiEmbedder({ baseUrl, model: model(), dimensions }),
    async load({ onNotice, signal }) {
      const { createOpenAiEmbedder } = await loading();
      if (needsKey && key === undefined) {
        throw keyMissing(`The embeddings of ${new URL(baseUrl).host} need`, keyVariable);
      }
      return createOpenAiEmbedder({
        apiKey: key?.reveal(),
        keyVariable,
        baseUrl,
        model: model(),
        dimensions,
        timeoutMs: TIMEOUT_MS,
        signal,
        onRetry: noticeOf(onNotice),
      });
    },
  };
}

function defaultModelAt(baseUrl: string): string {
  if (new URL(baseUrl).hostname === 'api.openai.com') return OPENAI_DEFAULT_MODEL;
  throw new AppError(
    'configuration_error',
    `Which embedding model of ${new URL(baseUrl).host} is to be used is not said.`,
    { hint: 'Name it with --embedding-model or EMBEDDING_MODEL.' },
  );
}

function keyMissing(whatNeeds: string, variable: string): AppError {
  return new AppError('auth_error', `${whatNeeds} a key, and ${variable} is not set.`, {
    hint: `Set ${variable} in the environment or in .env, or use --embedder minilm, which needs none.`,
  });
}

function noticeOf(onNotice: LoadOptions['onNotice']) {
  return ({ attempt, waitMs, error }: { attempt: number; waitMs: number; error: AppError }) =>
    onNotice?.(`${error.message} Trying again in ${Math.ceil(waitMs / 1000)} s (${attempt}).`);
}
