import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The cache of encodings and features. It can be deleted. */
export const CACHE = join(tmpdir(), 'judge-cache');

/** The source files that each kind of features depends on. */
const SOURCE_FILES = {
  support: [
    'judge/{text-vectors,align-words,support-features}.ts',
    'judge/facts/*.ts',
    'text/{terms,split-sentences,markdown-blocks}.ts',
  ],
  passages: [
    'judge/{text-vectors,align-words,passage-features,question-analysis}.ts',
    'text/{terms,split-sentences,markdown-blocks,passage-units}.ts',
  ],
};

/** Computes features, or reads them from the cache if neither code nor data has changed. */
export async function cacheFeatures<T>(
  kind: keyof typeof SOURCE_FILES,
  name: string,
  data: unknown,
  make: () => Promise<T>,
): Promise<T> {
  const sources = fileURLToPath(new URL('../../src/', import.meta.url));
  const hash = createHash('sha256').update(JSON.stringify(data));
  for (const file of globSync(SOURCE_FILES[kind], { cwd: sources }).sort()) {
    hash.update(readFileSync(join(sources, file)));
  }
  const path = join(CACHE, `features-${name}-${hash.digest('hex').slice(0, 16)}.json`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as T;
  const made = await make();
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(path, JSON.stringify(made));
  return made;
}
