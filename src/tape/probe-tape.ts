import { open } from 'node:fs/promises';
import { AppError } from '../domain/app-error.ts';

/** Throws `invalid_input` if the name belongs to something that is no tape: a recording would take its place. */
export async function probeTape(path: string): Promise<void> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    const start = buffer.toString('utf8', 0, bytesRead);
    if (bytesRead === 0 || /^\s*\{\s*"version"\s*:\s*\d/.test(start)) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EISDIR') throw error;
  } finally {
    await file.close();
  }
  throw new AppError('invalid_input', `${path} exists and is not a tape, so nothing is recorded over it.`, {
    hint: 'Choose another name for the tape.',
  });
}
