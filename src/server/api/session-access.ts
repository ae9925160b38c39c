import * as z from 'zod';
import type { KeyedLock } from '../../async/concurrency-gate.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { CallerRegistry } from '../http/callers.ts';
import { HttpError } from '../http/http-error.ts';
import type { ServedCollections } from '../turns/served-collections.ts';
import type { TurnRunner } from '../turns/turn-runner.ts';

/** Dependencies of the routes below /api. */
export interface ApiOptions {
  collections: ServedCollections;
  sessions: SessionStore;
  locks: KeyedLock;
  turns: TurnRunner;
  callers: CallerRegistry;
  /** The name of the model that answers. */
  model: string;
  maxBodyBytes: number;
}

export const sessionIdSchema = z.uuidv4();

/**
 * Loads a session and the name of its owner. Throws a 404 if there is none, also for a session of another caller, so
 * that its existence is not revealed.
 */
export async function loadSession(
  { sessions, callers }: Pick<ApiOptions, 'sessions' | 'callers'>,
  request: Request,
  sessionId: string,
): Promise<{ session: ConversationSession; user: string | null }> {
  const caller = callers.nameOf(request);
  const found = sessionIdSchema.safeParse(sessionId).success ? await sessions.load(sessionId) : null;
  if (found === null || (caller !== null && found.user !== caller)) {
    throw new HttpError(404, 'session_not_found', 'Unknown session.');
  }
  return found;
}

/**
 * Locks a session until the returned function is called. Throws a 409 if it is locked already by the same caller: to
 * others it does not exist, which `loadSession` reports.
 */
export function lockSession(
  { locks, callers }: Pick<ApiOptions, 'locks' | 'callers'>,
  request: Request,
  sessionId: string,
): () => void {
  const release = locks.tryTake(`${sessionId} ${callers.nameOf(request) ?? ''}`);
  if (release !== undefined) return release;
  throw new HttpError(409, 'session_busy', 'Another question of this session is being answered.', {
    retryAfter: 1,
  });
}
