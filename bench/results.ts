import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Left out of version control: what was measured, and collections that are costly to make again. */
export const RESULTS = fileURLToPath(new URL('results', import.meta.url));

/** Gives back the path. */
export async function writeResults(file: string, results: unknown): Promise<string> {
  const path = join(RESULTS, file);
  await mkdir(RESULTS, { recursive: true });
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
  return path;
}
