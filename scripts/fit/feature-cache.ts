import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Encodings and features of the data are kept here between runs. Nothing breaks if it is removed. */
export const CACHE = join(tmpdir(), 'judge-cache');

/** What features are made by. */
const MADE_BY = {
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

/** Features are made anew whenever the code that makes them, or the data, is another. */
export async function rememberFeatures<T>(
  kind: keyof typeof MADE_BY,
  name: string,
  data: unknown,
  make: () => Promise<T>,
): Promise<T> {
  const sources = fileURLToPath(new URL('../../src/', import.meta.url));
  const hash = createHash('sha256').update(JSON.stringify(data));
  for (const file of globSync(MADE_BY[kind], { cwd: sources }).sort()) {
    hash.update(readFileSync(join(sources, file)));
  }
  const path = join(CACHE, `features-${name}-${hash.digest('hex').slice(0, 16)}.json`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as T;
  const made = await make();
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(path, JSON.stringify(made));
  return made;
}
