import { createHash } from 'node:crypto';
import type { DocumentRecord } from '../../ports/chunk-store.ts';
import type { LibraryCollection } from './library.ts';

const ID_LENGTH = 32;
const SOURCE_URI = /^citeloop:\/\/sources\/([\da-f]{32})$/;

/** The name of a document among the resources. It holds no path: nothing can be climbed with it. */
export function sourceUri(url: string): string {
  return `citeloop://sources/${sourceId(url)}`;
}

/** Null for anything that is not exactly the name of a source. */
export function parseSourceUri(uri: string): string | null {
  return SOURCE_URI.exec(uri)?.[1] ?? null;
}

function sourceId(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, ID_LENGTH);
}

export type Source = Pick<DocumentRecord, 'uri' | 'url' | 'title' | 'module'>;

interface SourceIndex {
  /** Up to `limit` documents in the order of their URIs, those after the one with URI `after` if it is given. */
  next(after: string | null, limit: number): { sources: Source[]; isLast: boolean };
  byId(id: string): Source | undefined;
}

type Store = Pick<LibraryCollection['store'], 'info' | 'documents'>;

/** Reads which documents there are, once for as long as the collection does not change. */
export function createSourceIndex(): (store: Store) => Promise<SourceIndex> {
  let known: { state: string; index: Promise<SourceIndex> } | undefined;
  return async (store) => {
    const { updatedAt, documents, chunks } = await store.info();
    const state = JSON.stringify([updatedAt, documents, chunks]);
    if (known?.state !== state) {
      const index = readIndex(store);
      known = { state, index };
      index.catch(() => {
        known = undefined;
      });
    }
    return known.index;
  };
}

async function readIndex(store: Store): Promise<SourceIndex> {
  const sources: Source[] = [];
  const ids = new Map<string, Source>();
  for await (const { uri, url, title, module } of store.documents()) {
    const source = { uri, url, title, module };
    sources.push(source);
    ids.set(sourceId(url), source);
  }
  sources.sort((a, b) => (a.uri < b.uri ? -1 : 1));
  return {
    next(after, limit) {
      const first = after === null ? 0 : sources.findIndex(({ uri }) => uri > after);
      const rest = first < 0 ? [] : sources.slice(first, first + limit + 1);
      return { sources: rest.slice(0, limit), isLast: rest.length <= limit };
    },
    byId: (id) => ids.get(id),
  };
}
