import { join } from 'node:path';
import { untilItWorks } from '../async/until-it-works.ts';
import type { Config } from '../config/load-config.ts';
import type { SearchMode } from '../domain/choices.ts';
import { assertSameEmbedder, type CollectionIdentity } from '../domain/collection-identity.ts';
import { advice, setting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Judge, ReadingJudge } from '../judge/create-judge.ts';
import type { ChunkStore, CollectionCatalog } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Reranker } from '../ports/reranker.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { TokenEncoder } from '../ports/token-encoder.ts';
import { createRetriever, type Retriever } from '../retrieval/create-retriever.ts';
import type { AppEvent } from './app-event.ts';
import { chooseEmbedder, type LoadOptions, loadJudgeEncoder, loadReranker } from './embedders.ts';
import { configuredSecrets } from './run-settings.ts';
import { openSessions } from './sessions.ts';
import { systemRuntime } from './system-runtime.ts';

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
  /** Tells whoever made the app what happens besides what it was asked for. */
  tell(event: AppEvent): void;
  /** The conversations of the data directory. Whoever opens them closes them. */
  sessions(): Promise<SessionStore>;
  /** Loaded when it is first asked for; whoever is first says whether it is for many texts. */
  embedder(use?: Pick<LoadOptions, 'bulk'>): Promise<Embedder>;
  /**
   * What the judge reads with: the embedder, where it gives the vectors of tokens too, or the built-in one beside a model
   * that someone brought, if it is on this machine; null where there is none. Throws as `embedder` does.
   */
  encoder(): Promise<TokenEncoder | null>;
  /** The judge that reads with it; null where there is none. Throws as `embedder` does. */
  judge(): Promise<Judge | null>;
  /** Throws `auth_error` without a key, or what is wrong with a model that someone brought. */
  reranker(): Promise<Reranker>;
  retriever(
    store: ChunkStore,
    options: { mode: SearchMode; scoreThreshold?: number | undefined },
  ): Promise<Retriever>;
  close(): Promise<void>;
}

interface AppOptions {
  /** Instead of the configured one. */
  embedder?: Embedder;
  /** Instead of the machine's clock and ids. */
  runtime?: Runtime;
  /** Ends what takes long: the model being fetched, a service being asked again. */
  signal?: AbortSignal;
  onEvent?: (event: AppEvent) => void;
}

/** Config in, filled ports out. Nothing is opened or loaded yet. */
export function createApp(config: Config, options: AppOptions = {}): App {
  const { embedder: given, runtime = systemRuntime, signal, onEvent: tell = () => {} } = options;
  const choice = given === undefined ? chooseEmbedder(config) : undefined;
  // A service that was away may be back for the next question of a chat.
  const embedder = untilItWorks(async (use: Pick<LoadOptions, 'bulk'> = {}) =>
    choice === undefined ? (given as Embedder) : choice.load({ signal, tell, runtime, ...use }),
  );

  const judgeEncoder = untilItWorks(() => loadJudgeEncoder(config, { signal, tell, runtime }));
  const localReranker = untilItWorks((directory: string) =>
    loadReranker(config, directory, { signal, tell, runtime }),
  );
  const reranker = async (): Promise<Reranker> =>
    config.rerank.directory === undefined
      ? createCohere(config, runtime)
      : localReranker.get(config.rerank.directory);

  async function encoder(): Promise<TokenEncoder | null> {
    const loaded = await embedder.get();
    return isTokenEncoder(loaded) ? loaded : given === undefined ? judgeEncoder.get() : null;
  }

  async function readingJudge(): Promise<ReadingJudge | null> {
    const found = await encoder();
    if (found === null) return null;
    const { judgeOf } = await import('../judge/create-judge.ts');
    return judgeOf(found);
  }

  async function describe() {
    return choice === undefined ? (given as Embedder) : choice.describe();
  }

  async function identity(): Promise<CollectionIdentity> {
    const { id, dimensions } = await describe();
    return { embedder: id, dimensions: dimensions ?? (await embedder.get()).dimensions };
  }

  function catalogOf(store: StoreKind): CollectionCatalog {
    return lazily(store === 'qdrant' ? openQdrant : openSqlite);
  }

  async function openSqlite(): Promise<CollectionCatalog> {
    const { createSqliteCatalog } = await import('../adapters/sqlite/sqlite-catalog.ts');
    return createSqliteCatalog(join(config.home, 'collections'));
  }

  async function openQdrant(): Promise<CollectionCatalog> {
    const { createQdrantCatalog } = await import('../adapters/qdrant/qdrant-catalog.ts');
    return createQdrantCatalog({
      ...config.qdrant,
      apiKey: config.secrets.qdrantApiKey?.reveal(),
      secrets: configuredSecrets(config),
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
    tell,
    sessions: () => openSessions(config),
    embedder: embedder.get,
    encoder,
    judge: readingJudge,
    reranker,
    async retriever(store, { mode, scoreThreshold = config.agent.scoreThreshold }) {
      const retriever = createRetriever({
        store,
        embedder: embedder.get,
        mode,
        clock: runtime,
        // What the embedder calls alike says nothing about words in common.
        scoreThreshold: scoreThreshold ?? (mode === 'lexical' ? 0 : (await describe()).scoreThreshold),
      });
      if (config.rerank.judge && mode !== 'lexical') {
        const { rerankByNearness } = await import('../retrieval/rerank-by-nearness.ts');
        const nearness = async () => (await readingJudge())?.nearness ?? null;
        return rerankByNearness(retriever, { store, nearness, clock: runtime });
      }
      if (!config.rerank.on) return retriever;
      const { withReranker } = await import('../retrieval/rerank.ts');
      return withReranker(retriever, await reranker(), { clock: runtime });
    },
    async close() {
      if (given === undefined) await (await embedder.got())?.close();
      await (await judgeEncoder.got())?.close();
      await (await localReranker.got())?.close();
    },
  };
}

function isTokenEncoder(embedder: Embedder): embedder is Embedder & TokenEncoder {
  return 'encodeTokens' in embedder;
}

async function createCohere(config: Config, { sleep, random }: Runtime): Promise<Reranker> {
  const { rerank, secrets, cohereBaseUrl } = config;
  const apiKey = secrets.cohereApiKey?.reveal();
  if (apiKey === undefined) {
    throw new AppError(
      'auth_error',
      'Reranking is done by Cohere and needs a key, and COHERE_API_KEY is not set.',
      {
        hint: advice`Set COHERE_API_KEY in the environment or in .env, or leave out ${setting('rerank')}.`,
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

/** A catalog whose store is imported when it is first asked: others must not pay for it at start-up. */
function lazily(open: () => Promise<CollectionCatalog>): CollectionCatalog {
  const { get: catalog } = untilItWorks(open);
  return {
    list: async () => (await catalog()).list(),
    open: async (name) => (await catalog()).open(name),
    openOrCreate: async (name, identity) => (await catalog()).openOrCreate(name, identity),
    delete: async (name) => (await catalog()).delete(name),
  };
}
