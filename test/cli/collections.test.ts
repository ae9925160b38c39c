import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function machine() {
  const home = await temporaryDirectory();
  await mkdir(join(home, 'docs', 'birds'), { recursive: true });
  await writeFile(join(home, 'docs', 'birds', 'owl.md'), '# Owls\n\nAn owl hunts at night.');
  return { home, run: (...args: string[]) => runCli(args, { home }) };
}

test('collections are listed, shown with their modules and documents, and deleted', async () => {
  const { run } = await machine();
  expect((await run('collections')).stdout).toContain('There are no collections yet');
  await run('ingest', 'docs', '--collection', 'animals');

  const listed = JSON.parse((await run('collections', 'list', '--json')).stdout);
  expect(listed.collections).toMatchObject([{ name: 'animals', documents: 1, chunks: 1, dimensions: 384 }]);
  expect((await run('collections')).stdout).toMatch(/^name .*\nanimals +1 +1 /);

  const shown = await run('collections', 'show', 'animals');
  expect(shown.stdout).toMatch(/birds +1/);
  expect(shown.stdout).toContain('owl.md');

  const unsure = await run('collections', 'delete', 'animals');
  expect(unsure).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect(await run('collections', 'delete', 'animals', '--yes')).toMatchObject({
    code: 0,
    stdout: 'Deleted animals.\n',
  });
  expect((await run('collections', 'list', '--json')).stdout).toBe('{"collections":[]}\n');
});

test('a collection that is not there is named, with those that are', async () => {
  const { run } = await machine();
  await run('ingest', 'docs', '--collection', 'animals');
  for (const command of ['show', 'delete']) {
    const { code, stderr } = await run('collections', command, 'plants', '--json').then((result) => ({
      ...result,
      stderr: result.stdout,
    }));
    expect(code).toBe(2);
    expect(stderr).toContain('There is no collection');
    expect(stderr).toContain('animals');
  }
});

test('a name cannot lead out of the data directory', async () => {
  const { run, home } = await machine();
  await writeFile(join(home, 'precious.sqlite'), 'x');
  expect((await run('collections', 'delete', '../precious', '--yes')).code).toBe(2);
  expect((await run('ingest', 'docs', '--collection', '../precious')).code).toBe(2);
});
