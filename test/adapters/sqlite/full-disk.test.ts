import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const MOUNT = 'mount -t tmpfs -o size=2m none "$1" && exec "$2" "$3" "$1"';

test('on a full disk reads work, writes fail with a clear error and leave no partial tape', async ({
  skip,
}) => {
  const directory = await createTemporaryDirectory();
  const script = join(import.meta.dirname, 'use-full-disk.ts');
  const isolated = ['--user', '--map-root-user', '--mount', 'sh', '-c', MOUNT];
  const { status, stdout, stderr, error } = spawnSync(
    'unshare',
    [...isolated, 'sh', directory, process.execPath, script],
    { encoding: 'utf8' },
  );
  if (error !== undefined || /unshare|mount:/.test(stderr)) {
    process.stderr.write(`A small disk cannot be made here (${error?.message ?? stderr.trim()}).\n`);
    return skip();
  }
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(JSON.parse(stdout)).toEqual({
    found: 1,
    write: expect.stringContaining('The disk is full'),
    session: expect.stringContaining('The disk is full'),
    tape: expect.stringContaining('no space left on device'),
    tapes: ['run.tape.json'],
    later: 'recorded',
  });
});
