import { join } from 'node:path';
import type { LocalReranker } from '../adapters/onnx/onnx-reranker.ts';
import { createRetryablePromise, type RetryablePromise } from '../async/retryable-promise.ts';
import type { AppConfig } from '../config/load-config.ts';
import { assertSameEmbedder, type CollectionIdentity } from '../domain/collection-identity.ts';
import type { SearchMode } from '../domain/setting-choices.ts';
import { advice, settingName } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore, CollectionCatalog } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Reranker } from '../ports/reranker.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { createRetriever, type Retriever } from '../retrieval/create-retriever.ts';
import type { AppEvent } from './app-event.ts';
import {
  type EmbedderDescription,
  loadReranker,
  type ModelLoadOptions,
  selectEmbedder,
} from './embedders.ts';
import { openJoinedCollections } from './joined-collections.ts';
import { configuredSecrets } from './run-settings.ts';
import { openSessionStore } from './sessions.ts';
import { systemRuntime } from './system-runtime.ts';
import type { Telemetry } from './telemetry.ts';

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
  /** Whether the embedder has word vectors. */
  hasWords(): Promise<boolean>;
  /** Throws `configuration_error` if the collection has vectors of another embedder. */
  assertReadable(store: ChunkStore): Promise<void>;
  /** Set if calls are traced. */
  readonly telemetry: Telemetry | undefined;
  /** Passes an event to the listener that the app was created with. */
  emit(event: AppEvent): void;
  /** Opens the session store of the data directory; the caller closes it. */
  sessions(): Promise<SessionStore>;
  /** Loaded on first use; the first caller decides whether it is tuned for many texts. */
  embedder(use?: Pick<ModelLoadOptions, 'bulk'>): Promise<Embedder>;
  /** Throws `auth_error` without a key, and what is wrong with a local model. */
  reranker(): Promise<Reranker>;
  /** A local cross-encoder in a directory of the user. */
  crossEncoder(directory: string): Promise<Reranker>;
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
  /** Aborts downloads and retries. */
  signal?: AbortSignal;
  onEvent?: (event: AppEvent) => void;
  telemetry?: Telemetry | undefined;
}

/** Opens and loads nothing yet. */
export function createApp(config: AppConfig, options: AppOptions = {}): App {
  const { runtime = systemRuntime, onEvent: emit = () => {}, telemetry } = options;
  const models = createLocalModels(config, { ...options, runtime, emit });

  function withConfig(config: AppConfig): App {
    const reranker = async (): Promise<Reranker> =>
      config.rerank.directory !== undefined
        ? models.crossEncoder(config.rerank.directory)
        : config.rerank.by === 'endpoint'
          ? openRerankEndpoint(config, runtime)
          : createCohere(config, runtime);
    const catalogOf = (store: StoreKind) =>
      lazyCatalog(
        store === 'qdrant' ? () => openQdrant(config, models, runtime) : () => openSqlite(config, emit),
      );
    return {
      config,
      runtime,
      telemetry,
      catalog: catalogOf(config.store),
      catalogOf,
      async identity() {
        const { id, dimensions } = await models.describeEmbedder();
        return { embedder: id, dimensions: dimensions ?? (await models.embedder()).dimensions };
      },
      hasWords: async () => (await models.describeEmbedder()).hasWords === true,
      async assertReadable({ name, identity: has }) {
        const { id, dimensions = has.dimensions } = await models.describeEmbedder();
        assertSameEmbedder(name, has, { embedder: id, dimensions });
      },
      emit,
      sessions: () => openSessionStore(config, emit),
      embedder: models.embedder,
      reranker,
      crossEncoder: models.crossEncoder,
      async retriever(store, { mode }) {
        const { scoreThreshold } = config.agent;
        const traced = (found: Retriever) => telemetry?.retriever(found, store.name) ?? found;
        const retriever = createRetriever({
          store,
          embedder: models.embedder,
          mode,
          clock: runtime,
          // The threshold of the embedder says nothing about full-text scores.
          scoreThreshold:
            scoreThreshold ?? (mode === 'lexical' ? 0 : (await models.describeEmbedder()).scoreThreshold),
        });
        if (usesReranker(config)) {
          const { withReranker } = await import('../retrieval/rerank.ts');
          return traced(withReranker(retriever, await reranker(), { clock: runtime }));
        }
        // Lexical search must not load an embedding model.
        if (config.rerank.by === 'off' || mode === 'lexical') return traced(retriever);
        const { withWordReranker } = await import('../retrieval/rerank.ts');
        const onMissing = () => emit({ type: 'no_word_vectors', collection: store.name });
        const options = { store, embedder: models.embedder, onMissing, clock: runtime };
        return traced(withWordReranker(retriever, options));
      },
      withConfig,
      close: async () => {},
    };
  }
  return { ...withConfig(config), close: models.close };
}

/** Whether a hosted or local model reranks. */
export function usesReranker({ rerank }: AppConfig): boolean {
  return rerank.by !== 'words' && rerank.by !== 'off';
}

/** The models of a process, each loaded on first use; a failed load is tried again on the next use. */
function createLocalModels(config: AppConfig, { embedder: given, ...load }: AppOptions & ModelLoadOptions) {
  const choice = given === undefined ? selectEmbedder(config) : undefined;
  const embedder = createRetryablePromise(async (use: Pick<ModelLoadOptions, 'bulk'> = {}) =>
    choice === undefined ? (given as Embedder) : choice.load({ ...load, ...use }),
  );
  /** By directory. */
  const crossEncoders = new Map<string, RetryablePromise<[], LocalReranker>>();

  function crossEncoder(directory: string): Promise<Reranker> {
    const loading =
      crossEncoders.get(directory) ?? createRetryablePromise(() => loadReranker(config, directory, load));
    crossEncoders.set(directory, loading);
    return loading.get();
  }

  return {
    describeEmbedder: async (): Promise<EmbedderDescription> =>
      choice === undefined ? (given as Embedder) : choice.describe(),
    embedder: embedder.get,
    crossEncoder,
    async close() {
      if (given === undefined) await (await embedder.current())?.close();
      for (const one of crossEncoders.values()) await (await one.current())?.close();
    },
  };
}

async function openSqlite({ home }: AppConfig, emit: App['emit']): Promise<CollectionCatalog> {
  const { createSqliteCatalog } = await import('../adapters/sqlite/sqlite-catalog.ts');
  return createSqliteCatalog(join(home, 'collections'), {
    onUpgrade: (upgrade) => emit({ type: 'file_upgraded', ...upgrade }),
  });
}

async function openQdrant(
  config: AppConfig,
  { describeEmbedder }: ReturnType<typeof createLocalModels>,
  runtime: Runtime,
): Promise<CollectionCatalog> {
  const { createQdrantCatalog } = await import('../adapters/qdrant/qdrant-catalog.ts');
  return createQdrantCatalog({
    ...config.qdrant,
    apiKey: config.qdrant.key?.reveal(),
    secrets: configuredSecrets(config),
    foreignEmbedder: (await describeEmbedder()).id,
    runtime,
  });
}

async function createCohere(config: AppConfig, { sleep, random }: Runtime): Promise<Reranker> {
  const { rerank, cohereKey, cohereBaseUrl } = config;
  const apiKey = cohereKey?.reveal();
  if (apiKey === undefined) {
    throw new AppError('auth_error', 'Reranking with Cohere needs a key, and COHERE_API_KEY is not set.', {
      hint: advice`Set COHERE_API_KEY in the environment or in .env, or leave out ${settingName('rerank')}.`,
    });
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

/** The service at `rerankBaseUrl`. Throws `configuration_error` if the address or the model is not set. */
async function openRerankEndpoint(config: AppConfig, { sleep, random }: Runtime): Promise<Reranker> {
  const { baseUrl, model, key } = config.rerank;
  if (baseUrl === undefined || model === undefined) {
    throw new AppError('configuration_error', 'Reranking by an endpoint needs its address and a model.', {
      hint: advice`Set ${settingName('rerankBaseUrl')} and ${settingName('rerankModel')}.`,
    });
  }
  const { createHostedReranker } = await import('../adapters/hosted/hosted-reranker.ts');
  const secrets = configuredSecrets(config);
  const access = { baseUrl, model, apiKey: key?.reveal(), secrets, timeoutMs: RERANK_TIMEOUT_MS };
  return createHostedReranker({ ...access, sleep, random });
}

/** A catalog whose store is imported on first use, to keep start-up fast. */
function lazyCatalog(open: () => Promise<CollectionCatalog>): CollectionCatalog {
  const { get: catalog } = createRetryablePromise(open);
  return {
    list: async () => (await catalog()).list(),
    open: async (name) => openJoinedCollections(await catalog(), name),
    openOrCreate: async (name, identity) => (await catalog()).openOrCreate(name, identity),
    delete: async (name) => (await catalog()).delete(name),
  };
}
