import type { Agent } from '../../agent/agent.ts';
import { type UntilItWorks, untilItWorks } from '../../async/until-it-works.ts';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import { RequestFault } from '../http/request-fault.ts';

/** A collection with what answers questions about it. */
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
  createAgent(store: ChunkStore): Promise<Agent>;
}

/** Whatever a name is used for, it can be no path. */
const NAME = /^\w[\w.-]{0,127}$/;

export function createServedCollections(dependencies: Dependencies): ServedCollections {
  const { defaultName, list, openStore, createAgent } = dependencies;
  const opened = new Map<string, UntilItWorks<[], ServedCollection>>();

  async function openNow(name: string): Promise<ServedCollection> {
    const store = await openStore(name);
    if (store === null) throw unknownCollection();
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
    const exists = NAME.test(name) && (name === defaultName || (await list()).includes(name));
    if (!exists) throw unknownCollection();
    const collection = opened.get(name) ?? untilItWorks(() => openNow(name));
    opened.set(name, collection);
    return collection.get();
  }

  async function names(): Promise<string[]> {
    return [...new Set([defaultName, ...(await list()).filter((name) => NAME.test(name))])];
  }

  return {
    defaultName,
    get openCount() {
      return Array.from(opened.values()).filter(({ inUse }) => inUse).length;
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
      for (const each of opened.values()) await (await each.got())?.store.close();
    },
  };

  /** One that is not in use is opened for this alone. */
  async function described(name: string): Promise<CollectionDescription> {
    const inUse = await opened.get(name)?.got();
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
