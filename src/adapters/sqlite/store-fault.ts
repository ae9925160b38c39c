import { closeSync, openSync, readSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { advice, command } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';

/** Primary result codes of SQLite that mean something to a person. */
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
/** The extended codes where a reader cannot make the file that it shares with writers. */
const NO_SHARED_MEMORY = new Set([4618, 4874, 5386]);
/** What SQLite says of a file whose first pages are not what they were; any other error of this kind is ours. */
const DAMAGED_SCHEMA = /unsupported file format|malformed|encoding|no such (?:table|column)/i;
/** Where the header of a file says by which rules it is written: 1, or 2 with a log beside it. */
const WRITE_VERSION = 18;
/** With less than this nothing can be written, and beside a file in WAL mode not even be read. */
const LEAST_ROOM = 64 * 1024;

/** What the file system answers where a directory or file cannot be made or reached. */
const UNREACHABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST']);

/** An AppError that says what is wrong with the file, why, and what to do. Faults that are not the store's stay as they are. */
export function storeFault(error: unknown, path: string): unknown {
  if (error instanceof AppError) return error;
  const { code = '' } = error as { code?: string };
  if (UNREACHABLE.has(code)) return notWritable(path, error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(path, error);
  if (isDamaged(error, path)) {
    return new AppError('retrieval_error', `The collection file ${path} is damaged (${messageOf(error)}).`, {
      hint: advice`Restore it from a backup, or remove it${command('collections delete')} and ingest again.`,
      cause: error,
    });
  }
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
      return isDiskFull(path) ? diskFull(path, error) : notWritable(path, error);
    case CANNOT_OPEN:
      if (isDiskFull(path)) return diskFull(path, error);
      return new AppError('configuration_error', `${path} cannot be opened (${messageOf(error)}).`, {
        hint: `Check the permissions of it and of its directory, or set CITELOOP_HOME to a directory of yours.`,
        cause: error,
      });
    case IO_ERROR:
      if (isDiskFull(path)) return diskFull(path, error);
      return new AppError('retrieval_error', `Reading or writing ${path} failed (${messageOf(error)}).`, {
        hint: 'Check the disk, then run the same command again: what was committed is kept.',
        cause: error,
      });
    default:
      return error;
  }
}

/** Whether an error tells that the file is not as it was written. */
export function isDamaged(error: unknown, path: string): boolean {
  switch (resultCode(error)) {
    case CORRUPT:
    case NOT_A_DATABASE:
      return true;
    case ERROR:
      return DAMAGED_SCHEMA.test(messageOf(error));
    case READ_ONLY:
      return !saysHowToWrite(path);
    default:
      return false;
  }
}

/** Whether a file could not be used only because nothing may, or can, be written to it or beside it. */
export function isWriteRefused(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  const code = resultCode(error);
  return code === READ_ONLY || code === CANNOT_OPEN || NO_SHARED_MEMORY.has(errcode);
}

function isDiskFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < LEAST_ROOM;
  } catch {
    return false;
  }
}

/** SQLite takes a file for read-only whose header names a way of writing that it does not know. */
function saysHowToWrite(path: string): boolean {
  const header = Buffer.alloc(WRITE_VERSION + 1);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, header);
    } finally {
      closeSync(file);
    }
  } catch {
    return true;
  }
  return header[WRITE_VERSION] === 1 || header[WRITE_VERSION] === 2;
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
  return new AppError('retrieval_error', `The disk is full: there is no room for ${path} to be used.`, {
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
