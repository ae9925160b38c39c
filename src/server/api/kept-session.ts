import * as z from 'zod';
import type { KeyedLock } from '../../async/gate.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { Callers } from '../http/callers.ts';
import { RequestFault } from '../http/request-fault.ts';
import type { ServedCollections } from '../turns/served-collections.ts';
import type { TurnRunner } from '../turns/turn-runner.ts';

/** What the routes of the page work with. */
export interface ApiOptions {
  collections: ServedCollections;
  sessions: SessionStore;
  locks: KeyedLock;
  turns: TurnRunner;
  callers: Callers;
  /** The name of the model that answers. */
  model: string;
  maxBodyBytes: number;
}

export const sessionIdSchema = z.uuidv4();

/** The session, and whose it is. Throws a 404, also for one that is not the caller's: nobody learns that it is there. */
export async function loadSession(
  sessions: SessionStore,
  sessionId: string,
  caller: string | null,
): Promise<{ session: ConversationSession; user: string | null }> {
  const found = sessionIdSchema.safeParse(sessionId).success ? await sessions.load(sessionId) : null;
  if (found === null || (caller !== null && found.user !== caller)) throw unknownSession();
  return found;
}

/** The same without its owner. */
export async function findSession(
  sessions: SessionStore,
  sessionId: string,
  caller: string | null,
): Promise<ConversationSession> {
  return (await loadSession(sessions, sessionId, caller)).session;
}

export function unknownSession(): RequestFault {
  return new RequestFault(404, 'There is no such session.', { code: 'session_not_found' });
}

/** One turn at a time in a session: what gives it free again. Throws a 409 while somebody else has it. */
export function takeSession(locks: KeyedLock, sessionId: string): () => void {
  const release = locks.tryTake(sessionId);
  if (release !== undefined) return release;
  throw new RequestFault(409, 'Another question of this session is being answered.', {
    code: 'session_busy',
    retryAfter: 1,
  });
}
