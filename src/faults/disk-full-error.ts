import { AppError } from './app-error.ts';

const CODES = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a file operation failed because the disk or the user's quota is full. */
export function isDiskFull(error: unknown): boolean {
  return CODES.has(String((error as { code?: unknown } | null)?.code));
}

export function diskFullError(path: string | undefined, cause: unknown): AppError {
  const place = path === undefined ? '' : `: ${path} cannot be used`;
  return new AppError('retrieval_error', `The disk is full${place}.`, {
    hint: 'Free some space, then run the same command again: it continues where it stopped.',
    recoverable: true,
    cause,
  });
}
