import { type Staleness, staleCitationsByTurn } from '../agent/stale-citations.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { App } from './create-app.ts';

/** An answer that rests on a passage that is no longer what it was. */
export interface StaleAnswer {
  sessionId: string;
  turn: number;
  question: string;
  collection: string;
  sources: { marker: string; title: string; url: string; became: Staleness }[];
}

/** Answers of the newest sessions whose sources have changed or vanished since. What cannot be read tells nothing. */
export async function staleAnswers(
  app: Pick<App, 'catalog'>,
  sessions: SessionStore,
  { limit, collection: only }: { limit?: number | undefined; collection?: string | undefined } = {},
): Promise<StaleAnswer[]> {
  const stores = new Map<string, Pick<ChunkStore, 'chunks'> | null>();
  const opened: ChunkStore[] = [];
  const names = await app.catalog.list();

  async function storeOf(name: string): Promise<Pick<ChunkStore, 'chunks'> | null> {
    if (!names.includes(name)) return { chunks: async () => [] };
    try {
      const store = await app.catalog.open(name);
      if (store !== null) opened.push(store);
      return store;
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  const found: StaleAnswer[] = [];
  try {
    for (const { sessionId, collection } of await sessions.list({ limit })) {
      if (only !== undefined && collection !== only) continue;
      if (!stores.has(collection)) stores.set(collection, await storeOf(collection));
      const store = stores.get(collection) ?? null;
      if (store === null) continue;
      const turns = (await Array.fromAsync(sessions.turns(sessionId))).map(({ turn }) => turn);
      const stale = await staleCitationsByTurn(turns, store);
      turns.forEach(({ userQuery, response }, index) => {
        const sources = response.citations.flatMap(({ marker, title, url, chunkId }) => {
          const became = stale[index]?.get(chunkId ?? '');
          return became === undefined ? [] : [{ marker, title, url, became }];
        });
        if (sources.length === 0) return;
        found.push({ sessionId, turn: response.turnNumber, question: userQuery, collection, sources });
      });
    }
  } finally {
    for (const store of opened) await store.close();
  }
  return found;
}
