import * as z from 'zod';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { RequestFault } from '../wire/request-fault.ts';

export const sessionIdSchema = z.uuidv4();

/** Throws a 404. */
export async function findSession(sessions: SessionStore, sessionId: string): Promise<ConversationSession> {
  const found = sessionIdSchema.safeParse(sessionId).success ? await sessions.load(sessionId) : null;
  if (found === null) throw unknownSession();
  return found.session;
}

export function unknownSession(): RequestFault {
  return new RequestFault(404, 'There is no such session.', { code: 'session_not_found' });
}
