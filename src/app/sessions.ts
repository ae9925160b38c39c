import { join } from 'node:path';
import { emptyChunkLookup, findCitationChanges } from '../agent/citation-changes.ts';
import type { AppConfig } from '../config/load-config.ts';
import type { SystemMessage } from '../domain/conversation-message.ts';
import {
  appendMessages,
  createSession,
  sessionTotals,
  splitTurns,
  unknownSessionError,
} from '../domain/conversation-session.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { advice, viaCommand } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore, CollectionCatalog } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { ChunkChange } from '../retrieval/chunk-changes.ts';
import { oneLine } from '../text/visible-text.ts';
import type { AppEvent } from './app-event.ts';

export { createMemorySessionStore } from '../adapters/memory/memory-session-store.ts';

const ID_LENGTH = 36;
const MIN_PREFIX_LENGTH = 4;
const MAX_LISTED_IDS = 5;
const CHECK_TIMEOUT_MS = 30_000;

/** The file of the session store. */
export function sessionStorePath({ home }: Pick<AppConfig, 'home'>): string {
  return join(home, 'sessions.sqlite');
}

/** Opens the session store of the data directory; its file is created with the first session. */
export async function openSessionStore(
  config: Pick<AppConfig, 'home'>,
  emit: (event: AppEvent) => void = () => {},
): Promise<SessionStore> {
  const { createSqliteSessionStore } = await import('../adapters/sqlite/sqlite-session-store.ts');
  return createSqliteSessionStore(sessionStorePath(config), {
    onUpgrade: (upgrade) => emit({ type: 'file_upgraded', ...upgrade }),
  });
}

/** Problems of the session file, one sentence each. Throws if it cannot be opened. */
export async function checkSessionStore(config: Pick<AppConfig, 'home'>): Promise<string[]> {
  const { findSessionProblems } = await import('../adapters/sqlite/session-file.ts');
  return findSessionProblems(sessionStorePath(config), CHECK_TIMEOUT_MS);
}

/**
 * Resolves `last`, the session that changed last, or the prefix of an id. Throws `invalid_input` if no session or several
 * match. A complete id is returned without a lookup, whether it exists or not.
 */
export async function resolveSessionId(store: SessionStore, given: string): Promise<string> {
  if (given === 'last') {
    const [newest] = await store.list({ limit: 1 });
    if (newest !== undefined) return newest.sessionId;
    throw new AppError('invalid_input', 'There are no sessions yet.', {
      hint: advice`Start one${viaCommand('chat')}`,
    });
  }
  if (given.length === ID_LENGTH) return given;
  if (given.length < MIN_PREFIX_LENGTH) {
    throw new AppError('invalid_input', `"${oneLine(given, 60)}" is too short for a session id.`, {
      hint: `Give at least ${MIN_PREFIX_LENGTH} characters of the id, or "last".`,
    });
  }
  const prefix = given.toLowerCase();
  const matching = (await store.list()).filter(({ sessionId }) => sessionId.toLowerCase().startsWith(prefix));
  const [only, ...others] = matching;
  if (only === undefined) throw unknownSessionError(oneLine(given, 60));
  if (others.length === 0) return only.sessionId;
  throw new AppError('invalid_input', `${matching.length} sessions begin with "${oneLine(given, 60)}".`, {
    hint: `Give more of the id: ${matching
      .slice(0, MAX_LISTED_IDS)
      .map(({ sessionId }) => sessionId)
      .join(', ')}${matching.length > MAX_LISTED_IDS ? ' …' : ''}`,
  });
}

/**
 * Creates a session with the turns of another one before turn `turn`; the original is unchanged. Throws `invalid_input` for
 * a turn before the last reset. `left` has the turns of the original from the fork on, to be asked again.
 */
export async function forkSession(
  sessions: SessionStore,
  { sessionId, turn: at }: { sessionId: string; turn: number },
  runtime: Pick<Runtime, 'newId' | 'now'>,
) {
  const found = await sessions.load(sessionId);
  if (found === null) throw unknownSessionError(sessionId);
  const { session, user } = found;
  const turns: ConversationTurn[] = [];
  for await (const { turn } of sessions.turns(sessionId)) turns.push(turn);
  const { turnCount } = sessionTotals(session);
  const first = turnCount - session.turnCount + 1;
  if (at < first || at > turnCount) {
    throw new AppError(
      'invalid_input',
      `The session ${sessionId.slice(0, 8)} cannot be forked at turn ${at}.`,
      {
        hint:
          session.turnCount === 0
            ? 'The session has no turns since it was reset.'
            : `Choose a turn from ${first} to ${turnCount}.`,
      },
    );
  }
  const [system, ...messages] = session.messages;
  const byTurn = splitTurns(messages);
  const forkedId = runtime.newId();
  const { model, policy, collection, isInteractive } = session;
  let fork = createSession({
    sessionId: forkedId,
    createdAt: runtime.now().toISOString(),
    model,
    policy,
    collection,
    isInteractive,
    // The session schema guarantees that it comes first.
    systemMessage: system as SystemMessage,
  });
  await sessions.create(fork, user);
  for (const [index, shared] of turns.slice(first - 1, at - 1).entries()) {
    const own = (byTurn[index] ?? []).map((message) => ({ ...message, id: runtime.newId() }));
    const response = { ...shared.response, sessionId: forkedId, turnNumber: index + 1 };
    const usage = { retrievals: response.retrievalCount, tokens: response.tokensUsed.total };
    fork = appendMessages(fork, own, usage);
    await sessions.commitTurn(fork, own, { ...shared, turnId: runtime.newId(), response });
  }
  return { sessionId: forkedId, collection, left: turns.slice(at - 1) };
}

/** An answer that cites passages which have changed, moved or been removed since. */
export interface AffectedAnswer {
  sessionId: string;
  turn: number;
  question: string;
  collection: string;
  sources: ({ marker: string; title: string; url: string } & ChunkChange)[];
}

/** Whether a cited passage changed or was removed; a moved one still supports the answer. */
export function isAnswerStale({ sources }: AffectedAnswer): boolean {
  return sources.some(({ change }) => change !== 'moved');
}

/** The answers of the newest sessions whose sources have changed, moved or been removed. Skips unreadable collections. */
export async function findAffectedAnswers(
  { catalog }: { catalog: CollectionCatalog },
  sessions: SessionStore,
  { limit, collection: only }: { limit?: number | undefined; collection?: string | undefined } = {},
): Promise<AffectedAnswer[]> {
  const stores = new Map<string, typeof emptyChunkLookup | null>();
  const opened: ChunkStore[] = [];
  const names = await catalog.list();

  async function storeOf(name: string): Promise<typeof emptyChunkLookup | null> {
    if (!name.split(',').every((each) => names.includes(each))) return emptyChunkLookup;
    try {
      const store = await catalog.open(name);
      if (store !== null) opened.push(store);
      return store;
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  const found: AffectedAnswer[] = [];
  try {
    for (const { sessionId, collection } of await sessions.list({ limit })) {
      if (only !== undefined && collection !== only) continue;
      if (!stores.has(collection)) stores.set(collection, await storeOf(collection));
      const store = stores.get(collection) ?? null;
      if (store === null) continue;
      const turns = (await Array.fromAsync(sessions.turns(sessionId))).map(({ turn }) => turn);
      const changes = await findCitationChanges(turns, store);
      turns.forEach(({ userQuery, response }, index) => {
        const sources = response.citations.flatMap(({ marker, title, url, chunkId }) => {
          const found = changes[index]?.get(chunkId ?? '');
          return found === undefined ? [] : [{ marker, title, url, ...found }];
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

/** The number of stale answers in the newest sessions. */
export async function countStaleAnswers(...looked: Parameters<typeof findAffectedAnswers>): Promise<number> {
  return (await findAffectedAnswers(...looked)).filter(isAnswerStale).length;
}
