import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

async function machine() {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs', 'birds'), { recursive: true });
  await writeFile(join(home, 'docs', 'birds', 'owl.md'), '# Owls\n\nAn owl hunts at night.');
  return { home, run: (...args: string[]) => runInProcess(args, { home }) };
}

test('lists, shows and deletes collections', async () => {
  const { home, run } = await machine();
  expect((await runCli(['collections'], { home })).stdout).toContain('No collections yet');
  await run('ingest', 'docs', '--collection', 'animals');

  const listed = JSON.parse((await run('collections', 'list', '--json')).stdout);
  expect(listed.collections).toMatchObject([{ name: 'animals', documents: 1, chunks: 1, dimensions: 384 }]);
  expect((await run('collections')).stdout).toMatch(/^name .*\nanimals +1 +1 /);

  const shown = await run('collections', 'show', 'animals');
  expect(shown.stdout).toMatch(/birds +1/);
  expect(shown.stdout).toContain('owl.md');

  const unconfirmed = await run('collections', 'delete', 'animals');
  expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect(await run('collections', 'delete', 'animals', '--yes')).toMatchObject({
    code: 0,
    stdout: 'Deleted animals.\n',
  });
  expect((await run('collections', 'list', '--json')).stdout).toBe('{"collections":[]}\n');
});

test('finds documents of many formats, reports skipped files, and removes a document', async () => {
  const { home, run } = await machine();
  await writeFile(join(home, 'docs', 'zoo.csv'), 'Animal,Keeper\nOwl,Ann\nNewt,Bo\n');
  await writeFile(
    join(home, 'docs', 'feed.py'),
    'import x\n\n\n# Gives the newt its worms.\ndef feed(newt):\n    pass\n',
  );
  await writeFile(join(home, 'docs', 'photo.png'), '');
  const ingested = await run('ingest', 'docs', '--collection', 'animals', '--exclude', '*.rst');
  expect(ingested).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('skipped 1 of other types: 1 .png'),
  });

  const query = ['search', 'worms for the newt', '--collection', 'animals'];
  const [worms] = JSON.parse((await run(...query, '--json')).stdout).chunks;
  expect(worms).toMatchObject({ title: 'feed.py', location: { unit: 'line', from: 1, to: 6 } });
  expect((await run(...query)).stdout).toContain('feed.py, lines 1–6');
  const asked = await run('ask', 'Which animal hunts at night?', '--collection', 'animals', '--json');
  expect(JSON.parse(asked.stdout).citations[0]).toMatchObject({
    title: 'Owls',
    location: { unit: 'line', from: 3, to: 3 },
  });

  const unknown = await run('collections', 'remove', 'animals', 'zoo.cvs');
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/No document zoo.cvs/) });
  const removed = await run('collections', 'remove', 'animals', 'zoo.csv');
  expect(removed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Removed .*zoo\.csv from animals\./),
  });
  expect((await run('collections', 'show', 'animals')).stdout).not.toContain('zoo.csv');
});

test('an unknown collection is reported with the known ones', async () => {
  const { run } = await machine();
  await run('ingest', 'docs', '--collection', 'animals');
  for (const command of ['show', 'delete']) {
    const { code, stderr } = await run('collections', command, 'plants', '--json').then((result) => ({
      ...result,
      stderr: result.stdout,
    }));
    expect(code).toBe(2);
    expect(stderr).toContain('Unknown collection');
    expect(stderr).toContain('animals');
  }
});

test('a collection name cannot leave the data directory', async () => {
  const { run, home } = await machine();
  await writeFile(join(home, 'precious.sqlite'), 'x');
  expect((await run('collections', 'delete', '../precious', '--yes')).code).toBe(2);
  expect((await run('ingest', 'docs', '--collection', '../precious')).code).toBe(2);
});
