import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
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
  expect(out()).toBe('short\n');
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

test('Ctrl-C in the pager does not stop the command', async () => {
  const directory = await createTemporaryDirectory();
  const program = join(directory, 'pager');
  const script = `cd ${directory}; cat > paged; until [ -e quit ]; do sleep 0.02; done`;
  await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv('PAGER', program);
  const interrupt = vi.fn();
  process.on('SIGINT', interrupt);
  onTestFinished(() => void process.off('SIGINT', interrupt));
  const { streams } = fakeStreams('terminal');
  const paged = withPager(streams, (terminal) => terminal.write(LONG));
  await expect.poll(() => existsSync(join(directory, 'paged'))).toBe(true);
  process.emit('SIGINT', 'SIGINT');
  await writeFile(join(directory, 'quit'), '');
  await paged;
  expect(interrupt).not.toHaveBeenCalled();
  expect(process.listeners('SIGINT')).toContain(interrupt);
});

test('counts the rows of long lines and wide characters', () => {
  expect(countRows('a\n\nb\n', 10)).toBe(3);
  expect(countRows('机器人机器人\n', 10)).toBe(2);
});
