import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { countRows, withPager } from '../../../src/cli/terminal/pager.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { fakeStreams } from '../support/fake-streams.ts';

const LONG = Array.from({ length: 60 }, (_, at) => `line ${at}\n`).join('');

async function pagerInto(): Promise<string> {
  const directory = await createTemporaryDirectory();
  const program = join(directory, 'pager');
  await writeFile(program, `#!/bin/sh\ncat > ${join(directory, 'paged')}\n`, { mode: 0o755 });
  vi.stubEnv('PAGER', program);
  return join(directory, 'paged');
}

test('uses the pager only for output that does not fit on the screen', async () => {
  const file = await pagerInto();
  const { streams, out } = fakeStreams('terminal');
  await withPager(streams, (terminal) => terminal.write('short\n'));
  expect(out()).toBe('short\n');
  await withPager(streams, (terminal) => terminal.write(LONG));
  expect(stripVTControlCharacters(out())).toBe(
    'short\nShown in pager. Set PAGER=cat to print everything at once.\n',
  );
  expect(await readFile(file, 'utf8')).toBe(LONG);
});

test.each(['pipe', 'dumb'] as const)('a %s is never paged', async (kind) => {
  await pagerInto();
  const { streams, out } = fakeStreams(kind);
  await withPager(streams, (terminal) => terminal.write(LONG));
  expect(out()).toBe(LONG);
});

test('prints everything if the pager cannot be started', async () => {
  vi.stubEnv('PAGER', '/nowhere/pager');
  const { streams, out } = fakeStreams('terminal');
  await withPager(streams, (terminal) => terminal.write(LONG));
  expect(out()).toBe(LONG);
});

test('counts the rows of long lines and wide characters', () => {
  expect(countRows('a\n\nb\n', 10)).toBe(3);
  expect(countRows('机器人机器人\n', 10)).toBe(2);
});
