import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../src/files/make-directory.ts';
import { withoutPrivileges } from '../adapters/sqlite/without-privileges.ts';
import { runCli } from '../support/run-cli.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

test('creates missing parents, and accepts a directory that exists', async () => {
  const directory = await createTemporaryDirectory();
  for (let times = 0; times < 2; times += 1) makeDirectory(join(directory, 'a/b/c'));
  expect(existsSync(join(directory, 'a/b/c'))).toBe(true);
});

test('throws for a file in the path, and for a directory that is read-only', async () => {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'file'), '');
  expect(() => makeDirectory(join(directory, 'file'))).toThrow('EEXIST');
  expect(() => makeDirectory(join(directory, 'file/a/b'))).toThrow('ENOTDIR');
  await withoutPrivileges(directory, async () => {
    expect(() => makeDirectory(join(directory, 'a/b'))).toThrow('EACCES');
  });
});

test('ask ends with 3 if its data directory is a file, or below a directory that has no new entries', async () => {
  const home = await createTemporaryDirectory();
  await writeFile(join(home, 'file'), '');
  const impossible = [join(home, 'file'), ...(process.platform === 'linux' ? ['/proc/nope/x'] : [])];
  for (const CITELOOP_HOME of impossible) {
    const { code, stdout } = await runCli(['ask', 'x', '--json'], { home, env: { CITELOOP_HOME } });
    expect({ code, ...JSON.parse(stdout).error }).toMatchObject({
      code: 3,
      errorType: 'configuration_error',
    });
  }
}, 60_000);
