import type { Agent } from '../../agent/agent.ts';
import { createRetryablePromise, type RetryablePromise } from '../../async/retryable-promise.ts';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import { HttpError } from '../http/http-error.ts';

/** An open collection and the agent that answers from it. */
interface ServedCollection {
  name: string;
  store: ChunkStore;
  agent: Agent;
}

interface CollectionDescription {
  name: string;
  documents: number;
  chunks: number;
  updatedAt: string | null;
  modules: { name: string; chunks: number }[];
  /** Why the collection cannot be opened; null if it can. */
  error: string | null;
}

/** Collections that are opened by their first request and stay open. */
export interface ServedCollections {
  /** Used by requests that name no collection. */
  readonly defaultName: string;
  names(): Promise<string[]>;
  /** Throws a 404 for an unknown name. */
  open(name?: string): Promise<ServedCollection>;
  describe(): Promise<CollectionDescription[]>;
  close(): Promise<void>;
}

interface ServedCollectionsOptions {
  defaultName: string;
  list(): Promise<string[]>;
  /** Returns null for an unknown name. Throws AppErrors. */
  openStore(name: string): Promise<ChunkStore | null>;
  createAgent(store: ChunkStore): Promise<Agent>;
}

/** A name that cannot be a path. */
const NAME = /^\w[\w.-]{0,127}$/;

export function createServedCollections(options: ServedCollectionsOptions): ServedCollections {
  const { defaultName, list, openStore, createAgent } = options;
  const opened = new Map<string, RetryablePromise<[], ServedCollection>>();

  async function openServed(name: string): Promise<ServedCollection> {
    const store = await openStore(name);
    if (store === null) throw unknownCollectionError();
    try {
      return { name, store, agent: await createAgent(store) };
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  async function open(name = defaultName): Promise<ServedCollection> {
    const known = opened.get(name);
    if (known !== undefined) return known.get();
    const exists = name === defaultName || (NAME.test(name) && (await list()).includes(name));
    if (!exists) throw unknownCollectionError();
    const collection = opened.get(name) ?? createRetryablePromise(() => openServed(name));
    opened.set(name, collection);
    return collection.get();
  }

  async function names(): Promise<string[]> {
    return [...new Set([defaultName, ...(await list()).filter((name) => NAME.test(name))])];
  }

  return {
    defaultName,
    names,
    open,
    async describe() {
      const descriptions: CollectionDescription[] = [];
      for (const name of await names()) {
        try {
          descriptions.push(await describeOne(name));
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          const empty = { documents: 0, chunks: 0, updatedAt: null, modules: [] };
          descriptions.push({ name, ...empty, error: error.message });
        }
      }
      return descriptions;
    },
    async close() {
      for (const each of opened.values()) await (await each.current())?.store.close();
    },
  };

  /** Opens a collection that is not in use, and closes it again. */
  async function describeOne(name: string): Promise<CollectionDescription> {
    const inUse = await opened.get(name)?.current();
    const store = inUse?.store ?? (await openStore(name));
    if (store === null) throw new AppError('invalid_input', `Unknown collection "${name}".`);
    try {
      const { documents, chunks, updatedAt, modules } = await store.info();
      return { name, documents, chunks, updatedAt, modules, error: null };
    } finally {
      if (inUse === undefined) await store.close();
    }
  }
}

function unknownCollectionError(): HttpError {
  return new HttpError(404, 'collection_not_found', 'Unknown collection.', { param: 'collection' });
}
