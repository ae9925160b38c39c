import { constants } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { AppError, messageOf } from '../../faults/app-error.ts';

// Without this flag, opening a named pipe would wait for a writer.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const MEGABYTE = 1024 * 1024;

/** The bytes of a file. Throws `invalid_input` if it cannot be read or is too large. */
export async function readSourceFile(
  path: string,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal },
): Promise<Uint8Array> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, FLAGS);
    const status = await handle.stat();
    if (status.isDirectory()) throw new AppError('invalid_input', `${path} is a directory, not a file.`);
    if (!status.isFile()) throw new AppError('invalid_input', `${path} is not a regular file.`);
    if (status.size > maxBytes) {
      const sizes = `${formatSize(status.size)}, limit ${formatSize(maxBytes)}`;
      throw new AppError('invalid_input', `${path} is too large: ${sizes}.`, {
        hint: 'Split it into smaller files.',
      });
    }
    return new Uint8Array(await handle.readFile({ signal }));
  } catch (error) {
    signal?.throwIfAborted();
    throw (
      (systemErrorCode(error) === 'ENOENT' ? await explainMissingFile(path) : null) ??
      toFileError(path, error)
    );
  } finally {
    await handle?.close();
  }
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
