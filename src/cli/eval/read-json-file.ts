import { readFile } from 'node:fs/promises';
import { AppError, messageOf } from '../../domain/app-error.ts';

/** The text of a file that a flag or an argument names. Throws `invalid_input`. */
export async function readNamedFile(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new AppError(
      'invalid_input',
      `${what} ${path} ${isMissing ? 'does not exist' : 'cannot be read'}.`,
      {
        hint: isMissing ? 'Check the path.' : messageOf(error),
        cause: error,
      },
    );
  }
}

/** What a JSON file holds. Throws `invalid_input`. */
export async function readJsonFile(path: string, what: string): Promise<unknown> {
  const text = await readNamedFile(path, what);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('invalid_input', `${what} ${path} is no JSON.`, {
      hint: messageOf(error),
      cause: error,
    });
  }
}
