import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileFilter } from '../../../src/adapters/files/file-filter.ts';
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

/** The real listing, except for one unreadable directory. */
function refuse(refused: string) {
  return async (path: string) => {
    if (path === refused) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    return readdir(path, { withFileTypes: true });
  };
}

test('reports an unreadable directory and lists the rest', async () => {
  const locked = join(root, 'locked');
  expect(await walkDirectory(root, await createFileFilter(root), { readDirectory: refuse(locked) })).toEqual({
    paths: [join(root, 'a.md')],
    skippedLinks: 0,
    unreadable: [locked],
    skipped: { formats: new Map(), rules: 0, patterns: 0 },
  });
});

test('rejects an unreadable root', async () => {
  await expect(
    walkDirectory(root, await createFileFilter(root), { readDirectory: refuse(root) }),
  ).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${root} cannot be read: permission denied.`,
  });
});
