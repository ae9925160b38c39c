import { AppError, messageOf } from '../../faults/app-error.ts';

/**
 * A damaged file as one sentence. What was said of it already stays as it is, and so does a full stack, which
 * means that the document is nested too deeply.
 */
export function brokenDocument(name: string, format: string, cause: unknown, hint: string): Error {
  if (cause instanceof AppError || cause instanceof RangeError) return cause;
  const reason = messageOf(cause).split('\n', 1)[0]?.trim() ?? '';
  return new AppError('invalid_input', `${name} cannot be read as ${format}: ${reason}`, { hint, cause });
}
