import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError, messageOf } from '../../domain/app-error.ts';

/** Primary result codes of SQLite that mean something to a person. */
const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** How long a writer waits for another process to finish its transaction. */
const BUSY_TIMEOUT_MS = 30_000;

export function openDatabase(path: string): DatabaseSync {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      database.exec(
        'PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;',
      );
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw storeFault(error, path);
  }
}

/** Runs `work` in a transaction that takes the write lock at once, since a later upgrade could fail without waiting. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** An AppError that says what is wrong with the file, why, and what to do. Faults that are not the store's stay as they are. */
export function storeFault(error: unknown, path: string): unknown {
  if (error instanceof AppError) return error;
  const { code, errcode } = error as { code?: string; errcode?: number };
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM' || code === 'ENOTDIR' || code === 'ENOENT') {
    return notWritable(path, error);
  }
  if (code === 'ENOSPC') return diskFull(path, error);
  if (errcode === undefined) return error;
  switch (errcode & 0xff) {
    case BUSY:
      return new AppError('retrieval_error', `Another process has kept ${path} locked for too long.`, {
        hint: 'Wait until it is done, then run the same command again.',
        recoverable: true,
        cause: error,
      });
    case FULL:
      return diskFull(path, error);
    case READ_ONLY:
    case CANNOT_OPEN:
      return notWritable(path, error);
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
