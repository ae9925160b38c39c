import { join } from 'node:path';
import type { AppConfig } from '../config/load-config.ts';
import { unknownSessionError } from '../domain/conversation-session.ts';
import { advice, viaCommand } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { RecordedSession, SessionStore } from '../ports/session-store.ts';
import { oneLine } from '../text/visible-text.ts';
import type { AppEvent } from './app-event.ts';

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

/** A session store that keeps nothing after the process ends. */
export async function openMemorySessionStore(existing: RecordedSession | null = null): Promise<SessionStore> {
  const { createMemorySessionStore } = await import('../adapters/sqlite/sqlite-session-store.ts');
  return createMemorySessionStore(existing);
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
