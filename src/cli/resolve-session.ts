import { AppError } from '../domain/app-error.ts';
import { unknownSession } from '../domain/session-conflict.ts';
import { oneLine } from '../domain/visible-text.ts';
import type { SessionStore } from '../ports/session-store.ts';

const ID_LENGTH = 36;
const LEAST_PREFIX = 4;
const MAX_NAMED = 5;

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
      hint: 'Start one with: citeloop chat',
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
