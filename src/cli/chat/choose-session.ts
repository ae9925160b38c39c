import type { AgentSession } from '../../agent/agent.ts';
import { AppError } from '../../domain/app-error.ts';
import { resolveSessionId } from '../resolve-session.ts';
import type { OpenedAgent } from './opened-agent.ts';

interface Choice {
  /** The id of a session, its beginning, or `last`. */
  session?: string | undefined;
  /** The newest session of this user and collection. */
  continue?: boolean | undefined;
  user?: string | undefined;
}

/** The session that the flags ask for: a given one, the last one, or a new one. Throws `invalid_input`. */
export async function chooseSession(
  { agent, sessions, collection }: Pick<OpenedAgent, 'agent' | 'sessions' | 'collection'>,
  { session, continue: last, user }: Choice,
): Promise<AgentSession> {
  if (session !== undefined) return agent.resumeSession(await resolveSessionId(sessions, session));
  if (!last) return agent.startSession({ user });
  const newest = (await sessions.list({ user })).find((summary) => summary.collection === collection);
  if (newest === undefined) {
    throw new AppError('invalid_input', `There is no session on ${collection} to continue.`, {
      hint: 'Leave out --continue to start one.',
    });
  }
  return agent.resumeSession(newest.sessionId);
}
