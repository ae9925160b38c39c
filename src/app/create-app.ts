import { join } from 'node:path';
import { createRetryablePromise } from '../async/retryable-promise.ts';
import type { AppConfig } from '../config/load-config.ts';
import { assertSameEmbedder, type CollectionIdentity } from '../domain/collection-identity.ts';
import type { SearchMode } from '../domain/setting-choices.ts';
import { advice, settingName } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { AnswerJudge } from '../judge/answer-judge.ts';
import type { ChunkStore, CollectionCatalog } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Reranker } from '../ports/reranker.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { TokenEncoder } from '../ports/token-encoder.ts';
import { createRetriever, type Retriever } from '../retrieval/create-retriever.ts';
import type { AppEvent } from './app-event.ts';
import {
  type EmbedderDescription,
  loadJudgeEncoder,
  loadReranker,
  type ModelLoadOptions,
  selectEmbedder,
} from './embedders.ts';
import { configuredSecrets } from './run-settings.ts';
import { openSessionStore } from './sessions.ts';
import { systemRuntime } from './system-runtime.ts';

const RERANK_TIMEOUT_MS = 20_000;

export type StoreKind = AppConfig['store'];

/** The ports of one configuration, created from its settings. Immutable: other settings are another app. */
export interface App {
  readonly config: AppConfig;
  /** Clock and ids of this run. */
  readonly runtime: Runtime;
  /** The collections of the configured store. */
  readonly catalog: CollectionCatalog;
  catalogOf(store: StoreKind): CollectionCatalog;
  /** The embedder that new collections record; asks the service if it does not know its dimensions. */
  identity(): Promise<CollectionIdentity>;
  /** Throws `configuration_error` if the collection has vectors of another embedder. */
  assertReadable(store: ChunkStore): Promise<void>;
  /** Passes an event to the listener that the app was created with. */
  emit(event: AppEvent): void;
  /** Opens the session store of the data directory; the caller closes it. */
  sessions(): Promise<SessionStore>;
  /** Loaded on first use; the first caller decides whether it is tuned for many texts. */
  embedder(use?: Pick<ModelLoadOptions, 'bulk'>): Promise<Embedder>;
  /**
   * The encoder of the judge: the embedder if it returns token vectors, else the built-in model if its weights are on
   * this machine, else null. Throws as `embedder` does.
   */
  encoder(): Promise<TokenEncoder | null>;
  /** Null without an encoder. Throws as `embedder` does. */
  judge(): Promise<AnswerJudge | null>;
  /** Throws `auth_error` without a key, and what is wrong with a local model. */
  reranker(): Promise<Reranker>;
  retriever(store: ChunkStore, options: { mode: SearchMode }): Promise<Retriever>;
  /**
   * An app with other settings on the same loaded models. The embedder settings must be the same. Only the app that
   * `createApp` returned is closed.
   */
  withConfig(config: AppConfig): App;
  close(): Promise<void>;
}

interface AppOptions {
  /** Replaces the configured embedder; the caller closes it. */
  embedder?: Embedder;
  /** Replaces the clock and ids of the machine. */
  runtime?: Runtime;
  /** Judges in a worker thread, for servers that answer several questions at a time. */
  judgeInWorker?: boolean;
  /** Aborts downloads and retries. */
  signal?: AbortSignal;
  onEvent?: (event: AppEvent) => void;
}

/** Opens and loads nothing yet. */
export function createApp(config: AppConfig, options: AppOptions = {}): App {
  const { runtime = systemRuntime, onEvent: emit = () => {} } = options;
  const models = createLocalModels(config, { ...options, runtime, emit });

  function withConfig(config: AppConfig): App {
    const reranker = async (): Promise<Reranker> =>
      config.rerank.directory === undefined
        ? createCohere(config, runtime)
        : models.reranker(config.rerank.directory);
    const catalogOf = (store: StoreKind) =>
      lazyCatalog(store === 'qdrant' ? () => openQdrant(config, models, runtime) : () => openSqlite(config));
    return {
      config,
      runtime,
      catalog: catalogOf(config.store),
      catalogOf,
      async identity() {
        const { id, dimensions } = await models.describeEmbedder();
        return { embedder: id, dimensions: dimensions ?? (await models.embedder()).dimensions };
      },
      async assertReadable({ name, identity: has }) {
        const { id, dimensions = has.dimensions } = await models.describeEmbedder();
        assertSameEmbedder(name, has, { embedder: id, dimensions });
      },
      emit,
      sessions: () => openSessionStore(config),
      embedder: models.embedder,
      encoder: models.encoder,
      judge: models.judge,
      reranker,
      async retriever(store, { mode }) {
        const { scoreThreshold } = config.agent;
        const retriever = createRetriever({
          store,
          embedder: models.embedder,
          mode,
          clock: runtime,
          // The threshold of the embedder says nothing about full-text scores.
          scoreThreshold:
            scoreThreshold ?? (mode === 'lexical' ? 0 : (await models.describeEmbedder()).scoreThreshold),
        });
        if (config.rerank.judge && mode !== 'lexical') {
          const { rerankByNearness } = await import('../retrieval/rerank.ts');
          const nearness = async () => (await models.localJudge())?.compareWords ?? null;
          return rerankByNearness(retriever, { store, nearness, clock: runtime });
        }
        if (!config.rerank.on) return retriever;
        const { withReranker } = await import('../retrieval/rerank.ts');
        return withReranker(retriever, await reranker(), { clock: runtime });
      },
      withConfig,
      close: async () => {},
    };
  }
  return { ...withConfig(config), close: models.close };
}

/** The models of a process, each loaded on first use; a failed load is tried again on the next use. */
function createLocalModels(
  config: AppConfig,
  { embedder: given, judgeInWorker = false, ...load }: AppOptions & ModelLoadOptions,
) {
  const choice = given === undefined ? selectEmbedder(config) : undefined;
  const embedder = createRetryablePromise(async (use: Pick<ModelLoadOptions, 'bulk'> = {}) =>
    choice === undefined ? (given as Embedder) : choice.load({ ...load, ...use }),
  );
  const judgeEncoder = createRetryablePromise(() => loadJudgeEncoder(config, load));
  const reranker = createRetryablePromise((directory: string) => loadReranker(config, directory, load));
  const withEncoder = <T>(create: (encoder: TokenEncoder) => Promise<T>) =>
    createRetryablePromise(async () => {
      const found = await encoder();
      return found && create(found);
    });
  const localJudge = withEncoder(async (found) =>
    (await import('../judge/answer-judge.ts')).createJudge(found),
  );
  const workerJudge = withEncoder(async (found) =>
    (await import('./worker-judge.ts')).startWorkerJudge(found),
  );

  async function encoder(): Promise<TokenEncoder | null> {
    const loaded = await embedder.get();
    return isTokenEncoder(loaded) ? loaded : given === undefined ? judgeEncoder.get() : null;
  }

  return {
    describeEmbedder: async (): Promise<EmbedderDescription> =>
      choice === undefined ? (given as Embedder) : choice.describe(),
    embedder: embedder.get,
    encoder,
    localJudge: localJudge.get,
    judge: judgeInWorker ? workerJudge.get : localJudge.get,
    reranker: reranker.get,
    async close() {
      await (await workerJudge.current())?.close();
      if (given === undefined) await (await embedder.current())?.close();
      await (await judgeEncoder.current())?.close();
      await (await reranker.current())?.close();
    },
  };
}

async function openSqlite({ home }: AppConfig): Promise<CollectionCatalog> {
  const { createSqliteCatalog } = await import('../adapters/sqlite/sqlite-catalog.ts');
  return createSqliteCatalog(join(home, 'collections'));
}

async function openQdrant(
  config: AppConfig,
  { describeEmbedder }: ReturnType<typeof createLocalModels>,
  runtime: Runtime,
): Promise<CollectionCatalog> {
  const { createQdrantCatalog } = await import('../adapters/qdrant/qdrant-catalog.ts');
  return createQdrantCatalog({
    ...config.qdrant,
    apiKey: config.secrets.qdrantApiKey?.reveal(),
    secrets: configuredSecrets(config),
    foreignEmbedder: (await describeEmbedder()).id,
    runtime,
  });
}

function isTokenEncoder(embedder: Embedder): embedder is Embedder & TokenEncoder {
  return 'encodeTokens' in embedder;
}

async function createCohere(config: AppConfig, { sleep, random }: Runtime): Promise<Reranker> {
  const { rerank, secrets, cohereBaseUrl } = config;
  const apiKey = secrets.cohereApiKey?.reveal();
  if (apiKey === undefined) {
    throw new AppError(
      'auth_error',
      'Reranking is done by Cohere and needs a key, and COHERE_API_KEY is not set.',
      {
        hint: advice`Set COHERE_API_KEY in the environment or in .env, or leave out ${settingName('rerank')}.`,
      },
    );
  }
  const { createCohereReranker } = await import('../adapters/cohere/cohere-reranker.ts');
  return createCohereReranker({
    apiKey,
    secrets: configuredSecrets(config),
    baseUrl: cohereBaseUrl,
    model: rerank.model,
    timeoutMs: RERANK_TIMEOUT_MS,
    sleep,
    random,
  });
}

/** A catalog whose store is imported on first use, to keep start-up fast. */
function lazyCatalog(open: () => Promise<CollectionCatalog>): CollectionCatalog {
  const { get: catalog } = createRetryablePromise(open);
  return {
    list: async () => (await catalog()).list(),
    open: async (name) => (await catalog()).open(name),
    openOrCreate: async (name, identity) => (await catalog()).openOrCreate(name, identity),
    delete: async (name) => (await catalog()).delete(name),
  };
}
