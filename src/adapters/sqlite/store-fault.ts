import { dirname } from 'node:path';
import { AppError, messageOf } from '../../domain/app-error.ts';

/** Primary result codes of SQLite that mean something to a person. */
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const LOCKING_PROTOCOL = 15;
const NOT_A_DATABASE = 26;

/** What the file system answers where a directory or file cannot be made or reached. */
const UNREACHABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST']);

/** An AppError that says what is wrong with the file, why, and what to do. Faults that are not the store's stay as they are. */
export function storeFault(error: unknown, path: string): unknown {
  if (error instanceof AppError) return error;
  const { code = '' } = error as { code?: string };
  if (UNREACHABLE.has(code)) return notWritable(path, error);
  if (code === 'ENOSPC') return diskFull(path, error);
  switch (resultCode(error)) {
    case BUSY:
    case LOCKED:
    case LOCKING_PROTOCOL:
      return new AppError('retrieval_error', `Another process has kept ${path} locked for too long.`, {
        hint: 'Wait until it is done, then run the same command again.',
        recoverable: true,
        cause: error,
      });
    case FULL:
      return diskFull(path, error);
    case READ_ONLY:
      return notWritable(path, error);
    case CANNOT_OPEN:
      return new AppError('configuration_error', `${path} cannot be opened (${messageOf(error)}).`, {
        hint: `Check the permissions of it and of its directory, or set CITELOOP_HOME to a directory of yours.`,
        cause: error,
      });
    case CORRUPT:
    case NOT_A_DATABASE:
      return new AppError(
        'retrieval_error',
        `The collection file ${path} is damaged (${messageOf(error)}).`,
        {
          hint: 'Restore it from a backup, or remove it with `citeloop collections delete` and ingest again.',
          cause: error,
        },
      );
    case IO_ERROR:
      return new AppError('retrieval_error', `Reading or writing ${path} failed (${messageOf(error)}).`, {
        hint: 'Check the disk, then run the same command again: what was committed is kept.',
        cause: error,
      });
    default:
      return error;
  }
}

/** Whether a file could not be used only because nothing may be written to it or beside it. */
export function isWriteRefused(error: unknown): boolean {
  const code = resultCode(error);
  return code === READ_ONLY || code === CANNOT_OPEN;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY;
}

/** The primary result code; undefined if the error is not one of SQLite's. */
function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

function diskFull(path: string, cause: unknown): AppError {
  return new AppError('retrieval_error', `The disk is full; ${path} could not grow.`, {
    hint: 'Free some space and run the same command again: it goes on where it stopped.',
    recoverable: true,
    cause,
  });
}

function notWritable(path: string, cause: unknown): AppError {
  return new AppError('configuration_error', `The data directory ${dirname(path)} cannot be written to.`, {
    hint: 'Check its permissions, or set CITELOOP_HOME to a directory of yours.',
    cause,
  });
}
