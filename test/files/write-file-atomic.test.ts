import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFileAtomic } from '../../src/files/write-file-atomic.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

test('replaces a file and leaves nothing beside it', async () => {
  const folder = join(await createTemporaryDirectory(), 'new', 'folder');
  const path = join(folder, 'settings.json');
  await writeFileAtomic(path, 'one', { mode: 0o600 });
  await writeFileAtomic(path, 'two', { mode: 0o600 });
  expect(await readFile(path, 'utf8')).toBe('two');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['settings.json']);
});

test('removes the temporary file if the rename fails', async () => {
  const folder = await createTemporaryDirectory();
  await mkdir(join(folder, 'taken'));
  await expect(writeFileAtomic(join(folder, 'taken'), 'text')).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['taken']);
});
