import { constants } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { AppError, messageOf } from '../../faults/app-error.ts';

type ReadableFile = Pick<FileHandle, 'stat' | 'read' | 'close'>;

interface ReadOptions {
  maxBytes: number;
  signal?: AbortSignal;
  /** For tests with a file that changes while it is read. */
  openFile?: (path: string, flags: number) => Promise<ReadableFile>;
}

const ATTEMPTS = 3;
// Without this flag, opening a named pipe would wait for a writer.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const MEGABYTE = 1024 * 1024;

/**
 * The bytes of a file at one moment: its size and modification time are equal before and after reading. Throws
 * `invalid_input` if it cannot be read, is too large or keeps changing.
 */
export async function readFileConsistently(path: string, options: ReadOptions): Promise<Uint8Array> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    options.signal?.throwIfAborted();
    const bytes = await readOnce(path, options);
    if (bytes !== null) return bytes;
  }
  throw new AppError('invalid_input', `${path} changed while it was being read.`, {
    hint: 'Try again when no program writes to it.',
    recoverable: true,
  });
}

/** Null if the file changed. */
async function readOnce(path: string, options: ReadOptions): Promise<Uint8Array | null> {
  const { openFile = open, signal } = options;
  let handle: ReadableFile | undefined;
  try {
    handle = await openFile(path, FLAGS);
    return await readHandle(handle, path, options);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw (
      (systemErrorCode(error) === 'ENOENT' ? await explainMissingFile(path) : null) ??
      toFileError(path, error)
    );
  } finally {
    await handle?.close();
  }
}

async function readHandle(handle: ReadableFile, path: string, options: ReadOptions) {
  const before = await handle.stat();
  if (before.isDirectory()) throw new AppError('invalid_input', `${path} is a directory, not a file.`);
  if (!before.isFile()) throw new AppError('invalid_input', `${path} is not a regular file.`);
  if (before.size > options.maxBytes) {
    const sizes = `${formatSize(before.size)}, limit ${formatSize(options.maxBytes)}`;
    throw new AppError('invalid_input', `${path} is too large: ${sizes}.`, {
      hint: 'Split it into smaller files.',
    });
  }

  const bytes = new Uint8Array(before.size);
  let filled = 0;
  while (filled < bytes.length) {
    options.signal?.throwIfAborted();
    const { bytesRead } = await handle.read(bytes, filled, Math.min(bytes.length - filled, MEGABYTE), null);
    if (bytesRead === 0) return null;
    filled += bytesRead;
  }
  const after = await handle.stat();
  return after.size === before.size && after.mtimeMs === before.mtimeMs ? bytes : null;
}

function formatSize(bytes: number): string {
  return bytes < MEGABYTE ? `${bytes} bytes` : `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

const MESSAGE_BY_CODE: Record<string, string> = {
  ENOENT: 'no longer exists',
  ENOTDIR: 'no longer exists',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  EISDIR: 'is a directory, not a file',
  ELOOP: 'is a link to itself',
  EMFILE: 'cannot be opened: too many files are open',
  ENFILE: 'cannot be opened: too many files are open',
  EIO: 'cannot be read: disk error',
};

/** The code of a system error (`ENOENT`), or an empty string. */
export function systemErrorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Why a path does not exist: a broken link, or a name that is not UTF-8. Null for any other reason. */
export async function explainMissingFile(path: string): Promise<AppError | null> {
  const target = await readlink(path).catch(() => null);
  if (target !== null) {
    return new AppError('invalid_input', `${path} is a link to ${target}, which does not exist.`, {
      hint: 'Fix or remove the link.',
    });
  }
  if (!path.includes('\ufffd')) return null;
  return new AppError('invalid_input', `${path} cannot be opened, because its name is not UTF-8.`, {
    hint: 'Rename it, for example with convmv.',
  });
}

/** A file system error as an AppError of kind `invalid_input`. */
export function toFileError(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const problem = MESSAGE_BY_CODE[systemErrorCode(error)] ?? `cannot be read: ${messageOf(error)}`;
  return new AppError('invalid_input', `${path} ${problem}.`, { cause: error });
}
