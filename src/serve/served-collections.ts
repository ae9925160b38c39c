import type { Agent } from '../agent/agent.ts';
import { AppError } from '../domain/app-error.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import { RequestFault } from './wire/request-fault.ts';

/** A collection with what answers questions about it. */
export interface ServedCollection {
  name: string;
  store: ChunkStore;
  /** Its sessions are kept. */
  agent: Agent;
  /** Its sessions are those of `passing`, and are dropped after one turn. */
  passingAgent: Agent;
}

export interface CollectionDescription {
  name: string;
  documents: number;
  chunks: number;
  updatedAt: string | null;
  modules: { name: string; chunks: number }[];
  /** Why it cannot be used; null if it can. */
  error: string | null;
}

/** Collections that are opened when they are first asked for and kept. */
export interface ServedCollections {
  /** What is used where none is named. */
  readonly defaultName: string;
  readonly openCount: number;
  names(): Promise<string[]>;
  /** Throws a 404 if there is none of that name. */
  open(name?: string): Promise<ServedCollection>;
  describe(): Promise<CollectionDescription[]>;
  close(): Promise<void>;
}

interface Dependencies {
  defaultName: string;
  list(): Promise<string[]>;
  /** Throws AppErrors; null if there is none of that name. */
  openStore(name: string): Promise<ChunkStore | null>;
  createAgents(store: ChunkStore): Promise<Pick<ServedCollection, 'agent' | 'passingAgent'>>;
}

/** Whatever a name is used for, it can be no path. */
const NAME = /^\w[\w.-]{0,127}$/;

export function createServedCollections(dependencies: Dependencies): ServedCollections {
  const { defaultName, list, openStore, createAgents } = dependencies;
  const opened = new Map<string, Promise<ServedCollection>>();

  async function openNow(name: string): Promise<ServedCollection> {
    const known = NAME.test(name) && (name === defaultName || (await list()).includes(name));
    const store = known ? await openStore(name) : null;
    if (store === null) throw unknownCollection();
    try {
      return { name, store, ...(await createAgents(store)) };
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  function open(name = defaultName): Promise<ServedCollection> {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const opening = openNow(name);
    opened.set(name, opening);
    // What failed once may work later.
    opening.catch(() => opened.delete(name));
    return opening;
  }

  async function names(): Promise<string[]> {
    return [...new Set([defaultName, ...(await list()).filter((name) => NAME.test(name))])];
  }

  return {
    defaultName,
    get openCount() {
      return opened.size;
    },
    names,
    open,
    async describe() {
      const descriptions: CollectionDescription[] = [];
      for (const name of await names()) {
        try {
          descriptions.push(await described(name));
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          const nothing = { documents: 0, chunks: 0, updatedAt: null, modules: [] };
          descriptions.push({ name, ...nothing, error: error.message });
        }
      }
      return descriptions;
    },
    async close() {
      const all = await Promise.allSettled(opened.values());
      for (const each of all) {
        if (each.status === 'rejected') continue;
        await each.value.agent.close();
        await each.value.passingAgent.close();
        await each.value.store.close();
      }
    },
  };

  /** One that is not in use is opened for this alone. */
  async function described(name: string): Promise<CollectionDescription> {
    const inUse = await opened.get(name);
    const store = inUse?.store ?? (await openStore(name));
    if (store === null) throw new AppError('invalid_input', `There is no collection "${name}".`);
    try {
      const { documents, chunks, updatedAt, modules } = await store.info();
      return { name, documents, chunks, updatedAt, modules, error: null };
    } finally {
      if (inUse === undefined) await store.close();
    }
  }
}

function unknownCollection(): RequestFault {
  return new RequestFault(404, 'There is no such collection.', {
    code: 'collection_not_found',
    param: 'collection',
  });
}
