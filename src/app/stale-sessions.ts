import { citationFates, noChunks } from '../agent/stale-citations.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { Fate } from '../retrieval/chunk-changes.ts';
import type { App } from './create-app.ts';

/** An answer that rests on a passage that is no longer what or where it was. */
export interface ConcernedAnswer {
  sessionId: string;
  turn: number;
  question: string;
  collection: string;
  sources: ({ marker: string; title: string; url: string } & Fate)[];
}

/** Whether something that it rests on says something else now, or is gone: what merely moved still bears it out. */
export function isStale({ sources }: ConcernedAnswer): boolean {
  return sources.some(({ became }) => became !== 'moved');
}

/** Answers of the newest sessions whose sources have changed, vanished or moved since. What cannot be read tells nothing. */
export async function concernedAnswers(
  app: Pick<App, 'catalog'>,
  sessions: SessionStore,
  { limit, collection: only }: { limit?: number | undefined; collection?: string | undefined } = {},
): Promise<ConcernedAnswer[]> {
  const stores = new Map<string, typeof noChunks | null>();
  const opened: ChunkStore[] = [];
  const names = await app.catalog.list();

  async function storeOf(name: string): Promise<typeof noChunks | null> {
    if (!names.includes(name)) return noChunks;
    try {
      const store = await app.catalog.open(name);
      if (store !== null) opened.push(store);
      return store;
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  const found: ConcernedAnswer[] = [];
  try {
    for (const { sessionId, collection } of await sessions.list({ limit })) {
      if (only !== undefined && collection !== only) continue;
      if (!stores.has(collection)) stores.set(collection, await storeOf(collection));
      const store = stores.get(collection) ?? null;
      if (store === null) continue;
      const turns = (await Array.fromAsync(sessions.turns(sessionId))).map(({ turn }) => turn);
      const fates = await citationFates(turns, store);
      turns.forEach(({ userQuery, response }, index) => {
        const sources = response.citations.flatMap(({ marker, title, url, chunkId }) => {
          const fate = fates[index]?.get(chunkId ?? '');
          return fate === undefined ? [] : [{ marker, title, url, ...fate }];
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

/** How many answers of the newest sessions are stale. */
export async function countStale(...looked: Parameters<typeof concernedAnswers>): Promise<number> {
  return (await concernedAnswers(...looked)).filter(isStale).length;
}
