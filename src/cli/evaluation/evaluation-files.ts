import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createRunJournal, type RunJournal } from '../../evaluation/run/run-arms.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import type { CommonFlags } from '../flags/common-flags.ts';

/** Flags of commands with `--json`, which is an empty string without a value. */
export interface JsonCommandFlags extends Omit<CommonFlags, 'json'> {
  json?: string | undefined;
}

/** Creates missing folders. Throws `invalid_input`. */
export async function writeOutputFile(path: string, content: string): Promise<void> {
  try {
    makeDirectory(dirname(resolve(path)));
    await writeFile(path, content);
  } catch (error) {
    throw new AppError('invalid_input', `Could not write ${path}.`, { hint: messageOf(error), cause: error });
  }
}

/** Protects what was written or corrected before. Throws `invalid_input`. */
export function assertNotExisting(
  path: string,
  hint = 'Choose another file with --output, or overwrite it with --force.',
): void {
  if (existsSync(path)) throw new AppError('invalid_input', `${path} already exists.`, { hint });
}

/**
 * The journal of an evaluation, stored under a hash of `identity`: cases, settings and documents. `fresh` ignores an
 * earlier journal. It is not persistent on a tape, which must contain every call.
 */
export async function openRunState(
  home: string,
  identity: unknown,
  { fresh, persistent }: { fresh: boolean; persistent: boolean },
): Promise<{ journal: RunJournal; discard(): Promise<void> }> {
  if (!persistent) return { journal: createRunJournal([], async () => {}), discard: async () => {} };
  const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
  const path = join(home, 'evaluations', `${key}.jsonl`);
  if (fresh) await rm(path, { force: true });
  makeDirectory(dirname(path));
  const earlier = await readFile(path, 'utf8').catch(() => '');
  // Ends a truncated line, so that the next one stays readable.
  if (earlier !== '' && !earlier.endsWith('\n')) await appendFile(path, '\n');
  const lines = earlier.split('\n').filter((line) => line !== '');
  const journal = createRunJournal(lines, (line) => appendFile(path, line));
  return { journal, discard: () => rm(path, { force: true }) };
}
