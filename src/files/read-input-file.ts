import { readFileSync } from 'node:fs';
import { AppError, messageOf } from '../faults/app-error.ts';

/** The text of a file that the user names, without a byte order mark. `kind` names it in errors. Throws `invalid_input`. */
export function readInputFile(path: string, kind: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const hint = isMissing ? 'Check the path.' : messageOf(error);
    const problem = isMissing ? 'does not exist' : 'cannot be read';
    throw new AppError('invalid_input', `${kind} ${path} ${problem}.`, { hint, cause: error });
  }
}

/** Throws `invalid_input`. */
export function readJsonFile(path: string, kind: string): unknown {
  const text = readInputFile(path, kind);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('invalid_input', `${kind} ${path} is not valid JSON.`, {
      hint: messageOf(error),
      cause: error,
    });
  }
}
