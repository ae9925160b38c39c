import { createMiniLmEmbedder, MINILM } from '../adapters/onnx/minilm-embedder.ts';
import { weightsLocation } from '../adapters/onnx/weights.ts';
import type { Config } from '../config/load-config.ts';
import { advice, setting, settingOf } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { AppEvent } from './app-event.ts';
import { configuredSecrets } from './run-settings.ts';

const TIMEOUT_MS = 60_000;
const OPENAI_DEFAULT_MODEL = 'text-embedding-3-small';

/** What is known of an embedder before it is loaded or asked; some say their dimensions only then. */
type DescribedEmbedder = Pick<Embedder, 'id' | 'scoreThreshold'> & { dimensions: number | undefined };

export interface LoadOptions {
  /** Hears of the model being fetched on first use, and of waits for a service that is busy. */
  tell: (event: AppEvent) => void;
  /** Whose time is waited; the machine's where it has none of its own. */
  runtime: Pick<Runtime, 'sleep' | 'random'>;
  signal?: AbortSignal | undefined;
  /** Many texts are to be embedded, and nothing else is to be done meanwhile. */
  bulk?: boolean | undefined;
}

/** The embedder that is configured. What belongs to a service is imported when it is asked for. */
interface EmbedderChoice {
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
    load: ({ tell, signal, bulk }) =>
      createMiniLmEmbedder({
        location: weightsLocation(cache, modelDir),
        onProgress: (part, received, total) => tell({ type: 'model_fetched', part, received, total }),
        signal,
        bulk,
      }).finally(() => tell({ type: 'model_loaded' })),
  };
}

function cohere(config: Config): EmbedderChoice {
  const { embedding, secrets, cohereBaseUrl } = config;
  const { model } = embedding;
  const loading = () => import('../adapters/cohere/cohere-embedder.ts');
  return {
    describe: async () => (await loading()).describeCohereEmbedder(model),
    async load({ tell, runtime }) {
      const { createCohereEmbedder } = await loading();
      const apiKey = secrets.cohereApiKey?.reveal();
      if (apiKey === undefined) throw keyMissing("Cohere's embeddings need", 'COHERE_API_KEY');
      return createCohereEmbedder({
        apiKey,
        secrets: configuredSecrets(config),
        baseUrl: cohereBaseUrl,
        model,
        timeoutMs: TIMEOUT_MS,
        onRetry: (retry) => tell({ type: 'retry', ...retry }),
        sleep: runtime.sleep,
        random: runtime.random,
      });
    },
  };
}

function openai(config: Config): EmbedderChoice {
  const { model: named, dimensions, service } = config.embedding;
  const { baseUrl, key, keyVariable, needsKey } = service;
  const loading = () => import('../adapters/openai/openai-embedder.ts');
  const model = () => named ?? defaultModelAt(baseUrl);
  return {
    describe: async () => (await loading()).describeOpenAiEmbedder({ baseUrl, model: model(), dimensions }),
    async load({ tell, runtime, signal }) {
      const { createOpenAiEmbedder } = await loading();
      if (needsKey && key === undefined) {
        throw keyMissing(`The embeddings of ${new URL(baseUrl).host} need`, keyVariable);
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
        onRetry: (retry) => tell({ type: 'retry', ...retry }),
        sleep: runtime.sleep,
        random: runtime.random,
      });
    },
  };
}

function defaultModelAt(baseUrl: string): string {
  if (new URL(baseUrl).hostname === 'api.openai.com') return OPENAI_DEFAULT_MODEL;
  throw new AppError(
    'configuration_error',
    `Which embedding model of ${new URL(baseUrl).host} is to be used is not said.`,
    { hint: advice`Name it with ${setting('embeddingModel')} or EMBEDDING_MODEL.` },
  );
}

function keyMissing(whatNeeds: string, variable: string): AppError {
  return new AppError('auth_error', `${whatNeeds} a key, and ${variable} is not set.`, {
    hint: advice`Set ${variable} in the environment or in .env, or use ${settingOf('embedder', 'minilm', 'the embedder minilm')}, which needs none.`,
  });
}
