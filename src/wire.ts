import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMiniLmEmbedder, MINILM } from './adapters/onnx/minilm-embedder.ts';
import { weightsLocation } from './adapters/onnx/weights.ts';
import { createSqliteCatalog } from './adapters/sqlite/sqlite-catalog.ts';
import type { Config } from './config/load-config.ts';
import type { CollectionIdentity } from './domain/collection-identity.ts';
import type { SearchMode } from './domain/search-mode.ts';
import type { ChunkStore, CollectionCatalog } from './ports/chunk-store.ts';
import type { Embedder } from './ports/embedder.ts';
import type { Runtime } from './ports/runtime.ts';
import { createRetriever, type Retriever } from './retrieval/create-retriever.ts';
import { systemRuntime } from './system-runtime.ts';

/** The collection that holds the sample book, used as long as there is none of the user's. */
export const SAMPLE_COLLECTION = 'sample_book';

/** The filled ports that commands work with. */
export interface App {
  readonly config: Config;
  readonly catalog: CollectionCatalog;
  /** What new collections are made with. */
  readonly identity: CollectionIdentity;
  /** The clock and the ids of this run. */
  readonly runtime: Runtime;
  /** Loaded when it is first asked for. */
  embedder(): Promise<Embedder>;
  retriever(store: ChunkStore, options: { mode: SearchMode; scoreThreshold?: number | undefined }): Retriever;
  close(): Promise<void>;
}

export interface WireOptions {
  /** Hears of the embedding model being fetched on first use. */
  onFetch?: (received: number, total: number | null) => void;
  signal?: AbortSignal;
  /** Instead of the built-in one. */
  embedder?: Embedder;
  /** Instead of the machine's clock and ids. */
  runtime?: Runtime;
}

/** Config in, filled ports out. Nothing is opened or loaded yet. */
export function wire(config: Config, options: WireOptions = {}): App {
  const { runtime = systemRuntime } = options;
  let loading: Promise<Embedder> | undefined;

  const described = options.embedder ?? MINILM;

  function embedder(): Promise<Embedder> {
    if (options.embedder !== undefined) return Promise.resolve(options.embedder);
    loading ??= createMiniLmEmbedder({
      location: weightsLocation(config.cache, config.modelDir),
      onProgress: options.onFetch,
      signal: options.signal,
    });
    return loading;
  }

  return {
    config,
    catalog: createSqliteCatalog(join(config.home, 'collections')),
    identity: { embedder: described.id, dimensions: described.dimensions },
    runtime,
    embedder,
    retriever: (store, { mode, scoreThreshold }) =>
      createRetriever({
        store,
        embedder,
        mode,
        clock: runtime,
        scoreThreshold: scoreThreshold ?? config.agent.scoreThreshold ?? described.scoreThreshold,
      }),
    async close() {
      await (await loading?.catch(() => undefined))?.close();
    },
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
