import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const speedSchema = z.object({
  /** How many tokens of a prompt it read in a second. */
  read: z.number().positive(),
  /** How many tokens it wrote in a second. */
  written: z.number().positive(),
  measuredAt: z.string(),
});
export type ModelSpeed = z.infer<typeof speedSchema>;

/** What was measured of which file: one of another size or date is another model. */
const speedsSchema = z.record(z.string(), speedSchema.extend({ bytes: z.number(), modified: z.number() }));

/** What was measured of a model on this machine; null where nothing was, or the file is another one since. */
export async function readSpeed(cache: string, path: string): Promise<ModelSpeed | null> {
  const found = await stat(path).catch(() => null);
  const { [path]: kept } = await readSpeeds(cache);
  if (found === null || kept === undefined) return null;
  const { bytes, modified, ...speed } = kept;
  return bytes === found.size && modified === found.mtimeMs ? speed : null;
}

export async function keepSpeed(cache: string, path: string, speed: ModelSpeed): Promise<void> {
  const { size: bytes, mtimeMs: modified } = await stat(path);
  const speeds = { ...(await readSpeeds(cache)), [path]: { ...speed, bytes, modified } };
  const partial = `${fileIn(cache)}.${randomUUID()}.partial`;
  await mkdir(cache, { recursive: true });
  try {
    await writeFile(partial, `${JSON.stringify(speeds, null, 2)}\n`);
    await rename(partial, fileIn(cache));
  } finally {
    await rm(partial, { force: true });
  }
}

/** What cannot be read is measured again. */
async function readSpeeds(cache: string): Promise<z.infer<typeof speedsSchema>> {
  const text = await readFile(fileIn(cache), 'utf8').catch(() => '{}');
  try {
    return speedsSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

function fileIn(cache: string): string {
  return join(cache, 'model-speeds.json');
}
