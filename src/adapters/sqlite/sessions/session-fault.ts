import { AppError, messageOf } from '../../../domain/app-error.ts';
import { storeFault } from '../store-fault.ts';

/** Primary result codes of SQLite for a file that is broken, or no database at all. */
const DAMAGED = new Set([11, 26]);

/** A fault of the file as an AppError. What to do about a damaged one differs from a collection. */
export function sessionFault(error: unknown, path: string): unknown {
  const { errcode } = error as { errcode?: number };
  if (errcode === undefined || !DAMAGED.has(errcode & 0xff)) return storeFault(error, path);
  return new AppError('retrieval_error', `The sessions in ${path} are damaged (${messageOf(error)}).`, {
    hint: 'Restore that file from a backup, or move it away to begin anew.',
    cause: error,
  });
}

/** Something of a session that cannot be read back. */
export function damagedSession(sessionId: string, what: string, cause: unknown): AppError {
  return new AppError(
    'retrieval_error',
    `The session ${sessionId} is damaged: ${what} cannot be read (${messageOf(cause)}).`,
    { hint: `Restore it from a backup, or remove it with: citeloop sessions delete ${sessionId}`, cause },
  );
}
