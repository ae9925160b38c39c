import { AppError, messageOf } from '../../domain/app-error.ts';

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

/** A fault of the file system as one plain sentence of kind `invalid_input`. */
export function fileFault(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const sentence = SENTENCES[codeOf(error)] ?? `cannot be read: ${messageOf(error)}`;
  return new AppError('invalid_input', `${path} ${sentence}.`, { cause: error });
}
