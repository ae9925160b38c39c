import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from './config/load-config.ts';
import { AppError } from './domain/app-error.ts';
import { assertSameEmbedder, type CollectionIdentity } from './domain/collection-identity.ts';
import type { SearchMode } from './domain/search-mode.ts';
import type { ChunkStore, CollectionCatalog } from './ports/chunk-store.ts';
import type { Embedder } from './ports/embedder.ts';
import type { Reranker } from './ports/reranker.ts';
import type { Runtime } from './ports/runtime.ts';
import { createRetriever, type Retriever } from './retrieval/create-retriever.ts';
import { systemRuntime } from './system-runtime.ts';
import { chooseEmbedder, type LoadOptions } from './wire-embedder.ts';

/** The collection that holds the sample book, used as long as there is none of the user's. */
export const SAMPLE_COLLECTION = 'sample_book';

const RERANK_TIMEOUT_MS = 20_000;

export type StoreKind = Config['store'];

/** The filled ports that commands work with. */
export interface App {
  readonly config: Config;
  /** The collections of the configured store. */
  readonly catalog: CollectionCatalog;
  /** Those of a store by its name. */
  catalogOf(store: StoreKind): CollectionCatalog;
  /** What new collections are made with; asks the service where the embedder's dimensions are not known. */
  identity(): Promise<CollectionIdentity>;
  /** Throws `configuration_error` if its vectors are not of the configured embedder. */
  assertReadable(store: ChunkStore): Promise<void>;
  /** The clock and the ids of this run. */
  readonly runtime: Runtime;
  /** Loaded when it is first asked for; whoever is first says whether it is for many texts. */
  embedder(use?: Pick<LoadOptions, 'bulk'>): Promise<Embedder>;
  /** Throws `auth_error` without a key. */
  reranker(): Promise<Reranker>;
  retriever(
    store: ChunkStore,
    options: { mode: SearchMode; scoreThreshold?: number | undefined },
  ): Promise<Retriever>;
  close(): Promise<void>;
}

export interface WireOptions extends LoadOptions {
  /** Instead of the configured one. */
  embedder?: Embedder;
  /** Instead of the machine's clock and ids. */
  runtime?: Runtime;
}

/** Config in, filled ports out. Nothing is opened or loaded yet. */
export function wire(config: Config, options: WireOptions = {}): App {
  const { embedder: given, runtime = systemRuntime } = options;
  const choice = given === undefined ? chooseEmbedder(config) : undefined;
  let loading: Promise<Embedder> | undefined;

  async function describe() {
    return choice === undefined ? (given as Embedder) : choice.describe();
  }

  function embedder(use: Pick<LoadOptions, 'bulk'> = {}): Promise<Embedder> {
    if (loading === undefined) {
      const attempt =
        choice === undefined ? Promise.resolve(given as Embedder) : choice.load({ ...options, ...use });
      loading = attempt;
      // A service that was away may be back for the next question of a chat.
      attempt.catch(() => {
        if (loading === attempt) loading = undefined;
      });
    }
    return loading;
  }

  async function identity(): Promise<CollectionIdentity> {
    const { id, dimensions } = await describe();
    return { embedder: id, dimensions: dimensions ?? (await embedder()).dimensions };
  }

  function catalogOf(store: StoreKind): CollectionCatalog {
    return lazily(store === 'qdrant' ? openQdrant : openSqlite);
  }

  async function openSqlite(): Promise<CollectionCatalog> {
    const { createSqliteCatalog } = await import('./adapters/sqlite/sqlite-catalog.ts');
    return createSqliteCatalog(join(config.home, 'collections'));
  }

  async function openQdrant(): Promise<CollectionCatalog> {
    const { createQdrantCatalog } = await import('./adapters/qdrant/qdrant-catalog.ts');
    return createQdrantCatalog({
      ...config.qdrant,
      apiKey: config.secrets.qdrantApiKey?.reveal(),
      foreignEmbedder: (await describe()).id,
      runtime,
    });
  }

  return {
    config,
    runtime,
    catalog: catalogOf(config.store),
    catalogOf,
    identity,
    async assertReadable({ name, identity: has }) {
      const { id, dimensions = has.dimensions } = await describe();
      assertSameEmbedder(name, has, { embedder: id, dimensions });
    },
    embedder,
    reranker: () => createReranker(config),
    async retriever(store, { mode, scoreThreshold = config.agent.scoreThreshold }) {
      const retriever = createRetriever({
        store,
        embedder,
        mode,
        clock: runtime,
        scoreThreshold: scoreThreshold ?? (await describe()).scoreThreshold,
      });
      if (!config.rerank.on) return retriever;
      const { withReranker } = await import('./retrieval/rerank.ts');
      return withReranker(retriever, await createReranker(config), { clock: runtime });
    },
    async close() {
      if (given === undefined) await (await loading?.catch(() => undefined))?.close();
    },
  };
}

async function createReranker({ rerank, secrets, cohereBaseUrl }: Config): Promise<Reranker> {
  const apiKey = secrets.cohereApiKey?.reveal();
  if (apiKey === undefined) {
    throw new AppError(
      'auth_error',
      'Reranking is done by Cohere and needs a key, and COHERE_API_KEY is not set.',
      {
        hint: 'Set COHERE_API_KEY in the environment or in .env, or leave out --rerank.',
      },
    );
  }
  const { createCohereReranker } = await import('./adapters/cohere/cohere-reranker.ts');
  return createCohereReranker({
    apiKey,
    baseUrl: cohereBaseUrl,
    model: rerank.model,
    timeoutMs: RERANK_TIMEOUT_MS,
  });
}

/** A catalog whose store is imported when it is first asked: others must not pay for it at start-up. */
function lazily(open: () => Promise<CollectionCatalog>): CollectionCatalog {
  let opening: Promise<CollectionCatalog> | undefined;
  const catalog = () => {
    opening ??= open();
    return opening;
  };
  return {
    list: async () => (await catalog()).list(),
    open: async (name) => (await catalog()).open(name),
    openOrCreate: async (name, identity) => (await catalog()).openOrCreate(name, identity),
    delete: async (name) => (await catalog()).delete(name),
  };
}

/** The file that holds conversations. */
export function sessionsPath(config: Pick<Config, 'home'>): string {
  return join(config.home, 'sessions.sqlite');
}

/** The directory of the sample book that comes with the program; null where it was left out. */
export function sampleBook(): string | null {
  const directory = fileURLToPath(new URL('../fixtures/book', import.meta.url));
  return existsSync(directory) ? directory : null;
}
