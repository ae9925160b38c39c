import { constants } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { AppError, messageOf } from '../../faults/app-error.ts';

type ReadableFile = Pick<FileHandle, 'stat' | 'read' | 'close'>;

interface ReadOptions {
  maxBytes: number;
  signal?: AbortSignal;
  /** Opens the file; tests pass one whose file changes under the reader. */
  openFile?: (path: string, flags: number) => Promise<ReadableFile>;
}

const ATTEMPTS = 3;
// Without this flag, opening a named pipe would wait for a writer for ever.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const MEGABYTE = 1024 * 1024;

/**
 * The bytes of a file as they were at one moment: size and time of change are the same before and after the
 * read. Throws `invalid_input` for what cannot be read, is too large, or keeps changing.
 */
export async function readConsistently(path: string, options: ReadOptions): Promise<Uint8Array> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    options.signal?.throwIfAborted();
    const bytes = await readOnce(path, options);
    if (bytes !== null) return bytes;
  }
  throw new AppError('invalid_input', `${path} changed while it was read.`, {
    hint: 'Try again when nothing writes to it.',
    recoverable: true,
  });
}

/** Null when the file changed meanwhile. */
async function readOnce(path: string, options: ReadOptions): Promise<Uint8Array | null> {
  const { openFile = open, signal } = options;
  let handle: ReadableFile | undefined;
  try {
    handle = await openFile(path, FLAGS);
    return await readHandle(handle, path, options);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw (codeOf(error) === 'ENOENT' ? await explainMissing(path) : null) ?? fileFault(path, error);
  } finally {
    await handle?.close();
  }
}

async function readHandle(handle: ReadableFile, path: string, options: ReadOptions) {
  const before = await handle.stat();
  if (before.isDirectory()) throw new AppError('invalid_input', `${path} is a directory, not a file.`);
  if (!before.isFile()) throw new AppError('invalid_input', `${path} is not a regular file.`);
  if (before.size > options.maxBytes) throw tooLarge(path, before.size, options.maxBytes);

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

function tooLarge(path: string, size: number, maxBytes: number): AppError {
  const message = `${path} is too large: ${megabytes(size)}, and the limit is ${megabytes(maxBytes)}.`;
  return new AppError('invalid_input', message, { hint: 'Split it into smaller files.' });
}

function megabytes(bytes: number): string {
  return bytes < MEGABYTE ? `${bytes} bytes` : `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

const SENTENCES: Record<string, string> = {
  ENOENT: 'does not exist any more',
  ENOTDIR: 'does not exist any more',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  EISDIR: 'is a directory, not a file',
  ELOOP: 'is a link that leads back to itself',
  EMFILE: 'cannot be opened: too many files are open',
  ENFILE: 'cannot be opened: too many files are open',
  EIO: 'cannot be read: the disk reported a fault',
};

/** The code of a system error (`ENOENT`), or an empty string. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Why what was listed, or named, is not there: a link to nothing, or a name that Node cannot spell. Null if it is just gone. */
export async function explainMissing(path: string): Promise<AppError | null> {
  const target = await readlink(path).catch(() => null);
  if (target !== null) {
    return new AppError('invalid_input', `${path} is a link to ${target}, which does not exist.`, {
      hint: 'Mend the link, or remove it.',
    });
  }
  if (!path.includes('\ufffd')) return null;
  return new AppError('invalid_input', `${path} has a name that is not UTF-8, so it cannot be opened.`, {
    hint: 'Give it a name in UTF-8; convmv does that for many files at once.',
  });
}

/** A fault of the file system as one plain sentence of kind `invalid_input`. */
export function fileFault(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const sentence = SENTENCES[codeOf(error)] ?? `cannot be read: ${messageOf(error)}`;
  return new AppError('invalid_input', `${path} ${sentence}.`, { cause: error });
}
