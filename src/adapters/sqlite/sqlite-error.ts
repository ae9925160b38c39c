import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { advice, viaCommand } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { diskFullError, isDiskFull } from '../../faults/disk-full-error.ts';

/** Primary result codes of SQLite. */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const LOCKING_PROTOCOL = 15;
const NOT_A_DATABASE = 26;
/** Extended codes: the shared-memory file beside a WAL file cannot be created. */
const NO_SHARED_MEMORY = new Set([4618, 4874, 5386]);
/** Messages about a file whose first pages were overwritten. Other errors with code 1 are programming errors. */
const DAMAGED_SCHEMA = /unsupported file format|malformed|encoding|no such (?:table|column)/i;
/** With less free space nothing can be written, and a WAL file cannot even be read. */
const MIN_FREE_BYTES = 64 * 1024;

const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST']);

/** Converts errors of the file or the disk to AppErrors. Returns other errors as they are. */
export function toSqliteError(error: unknown, path: string): unknown {
  if (error instanceof AppError) return error;
  const { code = '' } = error as { code?: string };
  if (NOT_WRITABLE.has(code)) return notWritableError(path, error);
  if (isDiskFull(error)) return diskFullError(path, error);
  if (isDamagedFileError(error)) {
    return new AppError('retrieval_error', `The collection file ${path} is damaged (${messageOf(error)}).`, {
      hint: advice`Restore it from a backup, or remove it${viaCommand('collections delete')} and ingest again.`,
      cause: error,
    });
  }
  const result = resultCode(error) ?? 0;
  if (result !== 0 && statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return new AppError('configuration_error', `${path} is a directory, not a file.`, {
      hint: 'Move it away, or set CITELOOP_HOME to another directory.',
      cause: error,
    });
  }
  if (result === FULL || ([READ_ONLY, CANNOT_OPEN, IO_ERROR].includes(result) && hasNoSpace(path))) {
    return diskFullError(path, error);
  }
  switch (result) {
    case BUSY:
    case LOCKED:
    case LOCKING_PROTOCOL:
      return new AppError('retrieval_error', `Another process keeps ${path} locked.`, {
        hint: 'Wait until it is done, then run the same command again.',
        recoverable: true,
        cause: error,
      });
    case READ_ONLY:
      return notWritableError(path, error);
    case CANNOT_OPEN:
      return new AppError('configuration_error', `${path} cannot be opened (${messageOf(error)}).`, {
        hint: 'Check the permissions of the file and its directory, or set CITELOOP_HOME to another directory.',
        cause: error,
      });
    case IO_ERROR:
      return new AppError('retrieval_error', `Reading or writing ${path} failed (${messageOf(error)}).`, {
        hint: 'Check the disk, then run the same command again. Committed data is kept.',
        cause: error,
      });
    default:
      return error;
  }
}

/** Whether the error means that the file's contents were damaged. */
export function isDamagedFileError(error: unknown): boolean {
  const code = resultCode(error);
  return (
    code === CORRUPT || code === NOT_A_DATABASE || (code === ERROR && DAMAGED_SCHEMA.test(messageOf(error)))
  );
}

/** Whether the file could not be opened only because nothing can be written to it or beside it. */
export function isWriteRefusedError(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  const code = resultCode(error);
  return code === READ_ONLY || code === CANNOT_OPEN || NO_SHARED_MEMORY.has(errcode);
}

/** Files are created with their contents, so an empty one was truncated. */
export function emptyFileError(): Error {
  return Object.assign(new Error('the file is empty'), { errcode: NOT_A_DATABASE });
}

/** The primary result code; undefined if the error is not one of SQLite's. */
function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

function hasNoSpace(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

function notWritableError(path: string, cause: unknown): AppError {
  return new AppError('configuration_error', `The data directory ${dirname(path)} cannot be written to.`, {
    hint: 'Check its permissions, or set CITELOOP_HOME to another directory.',
    cause,
  });
}
