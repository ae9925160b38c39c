import { AppError, messageOf } from '../domain/app-error.ts';

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'it is a folder',
  EFBIG: 'it is larger than files may be',
};

/** What kept a tape from being written. Whatever was there before is as it was. */
export function writeFault(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  return new AppError(
    'invalid_input',
    `The tape ${path} cannot be written: ${REASONS[code] ?? messageOf(error)}.`,
    {
      hint: 'The run itself may have succeeded; record it again elsewhere. A tape that was there before is unchanged.',
      cause: error,
    },
  );
}

export function readFault(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOENT' ? 'it does not exist' : (REASONS[code] ?? messageOf(error));
  return new AppError('invalid_input', `The tape ${path} cannot be read: ${reason}.`, {
    hint: 'Record one with --record <tape>.',
    cause: error,
  });
}

export function notATape(path: string, why: string): AppError {
  return new AppError('invalid_input', `${path} is not a tape: ${why}.`, {
    hint: 'Record one with --record <tape>, or read a HAR file with: citeloop tape import',
  });
}
