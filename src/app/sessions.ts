import { join } from 'node:path';
import type { Config } from '../config/load-config.ts';
import { unknownSession } from '../domain/conversation-session.ts';
import { advice, command } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { oneLine } from '../text/visible-text.ts';

export { createMemorySessionStore } from '../adapters/memory/memory-session-store.ts';

const ID_LENGTH = 36;
const LEAST_PREFIX = 4;
const MAX_NAMED = 5;
const CHECK_TIMEOUT_MS = 30_000;

/** The file that holds conversations. */
export function sessionsPath({ home }: Pick<Config, 'home'>): string {
  return join(home, 'sessions.sqlite');
}

/** The conversations of the data directory; the file is made with the first. */
export async function openSessions(config: Pick<Config, 'home'>): Promise<SessionStore> {
  const { createSqliteSessionStore } = await import('../adapters/sqlite/sqlite-session-store.ts');
  return createSqliteSessionStore(sessionsPath(config));
}

/** What is wrong with the file of the conversations, one sentence each. Throws where it cannot even be opened. */
export async function checkSessions(config: Pick<Config, 'home'>): Promise<string[]> {
  const { findSessionProblems } = await import('../adapters/sqlite/session-file.ts');
  return findSessionProblems(sessionsPath(config), CHECK_TIMEOUT_MS);
}

/**
 * The id that a person means: `last` for the session that changed last, or the beginning of an id. Throws
 * `invalid_input` if none or several fit. A complete id is taken as it is, whether it exists or not, so that
 * nothing has to be read for it.
 */
export async function resolveSessionId(store: SessionStore, given: string): Promise<string> {
  if (given === 'last') {
    const [newest] = await store.list({ limit: 1 });
    if (newest !== undefined) return newest.sessionId;
    throw new AppError('invalid_input', 'There are no sessions yet.', {
      hint: advice`Start one${command('chat')}`,
    });
  }
  if (given.length === ID_LENGTH) return given;
  if (given.length < LEAST_PREFIX) {
    throw new AppError('invalid_input', `"${oneLine(given, 60)}" is too short to tell sessions apart.`, {
      hint: `Give at least ${LEAST_PREFIX} characters of the id, or last.`,
    });
  }
  const prefix = given.toLowerCase();
  const fitting = (await store.list()).filter(({ sessionId }) => sessionId.toLowerCase().startsWith(prefix));
  const [only, ...others] = fitting;
  if (only === undefined) throw unknownSession(oneLine(given, 60));
  if (others.length === 0) return only.sessionId;
  throw new AppError('invalid_input', `${fitting.length} sessions begin with "${oneLine(given, 60)}".`, {
    hint: `Give more of the id: ${fitting
      .slice(0, MAX_NAMED)
      .map(({ sessionId }) => sessionId)
      .join(', ')}${fitting.length > MAX_NAMED ? ' …' : ''}`,
  });
}
