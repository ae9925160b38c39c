import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileChoice } from '../../../src/adapters/files/choose-files.ts';
import { walkDirectory } from '../../../src/adapters/files/walk-directory.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'citeloop-walk-'));
  await mkdir(join(root, 'locked'));
  await writeFile(join(root, 'a.md'), 'a');
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

/** The real listing, but for one directory that the person may not list. */
function refuse(refused: string) {
  return async (path: string) => {
    if (path === refused) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    return readdir(path, { withFileTypes: true });
  };
}

test('a directory below the root that may not be listed is reported, and the rest is listed', async () => {
  const locked = join(root, 'locked');
  expect(await walkDirectory(root, await createFileChoice(root), refuse(locked))).toEqual({
    paths: [join(root, 'a.md')],
    skippedLinks: 0,
    unreadable: [locked],
    skipped: { formats: new Map(), rules: 0, patterns: 0 },
  });
});

test('a root that may not be listed is invalid input', async () => {
  await expect(walkDirectory(root, await createFileChoice(root), refuse(root))).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${root} cannot be read: permission denied.`,
  });
});
