import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectory } from './make-directory.ts';

/**
 * Writes a temporary file beside `path` and renames it, so that a crash leaves the old file or the new one, and two
 * processes may do it at once. Creates missing folders.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: { mode?: number } = {},
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.partial`;
  makeDirectory(dirname(path));
  try {
    await writeFile(temporary, content, { ...options, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
