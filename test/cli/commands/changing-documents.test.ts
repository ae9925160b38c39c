import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const ZEBRAS = '# Zebras\n\nA zebra is a striped horse that lives in Africa.\n';
const OWLS = '# Owls\n\nAn owl is a bird that hunts at night.\n';

test('a resumed session names earlier sources that have changed or were removed', async () => {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs', 'zebras.md'), ZEBRAS);
  await writeFile(join(home, 'docs', 'owls.md'), OWLS);
  await runInProcess(['ingest', 'docs', '-c', 'web_documents'], { home });
  await runInProcess(['chat'], { home, input: 'What is a zebra?\nWhat is an owl?\n' });
  const resume = () => runInProcess(['chat', '--session', 'last'], { home, input: 'Thanks!\n' });
  const unchanged = await resume();
  expect(unchanged.stdout + unchanged.stderr).not.toContain('Sources of earlier answers');
  await writeFile(join(home, 'docs', 'zebras.md'), ZEBRAS.replace('Africa', 'the zoo'));
  await rm(join(home, 'docs', 'owls.md'));
  await runInProcess(['ingest', 'docs', '-c', 'web_documents', '--prune'], { home });
  const changed = await resume();
  expect(changed.stdout + changed.stderr).toMatch(/Sources of earlier answers .*: Zebras, Owls/);
});

test('a deleted file is reported by ingest and marked in answers until it is pruned', async () => {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs', 'birds'), { recursive: true });
  await writeFile(join(home, 'docs', 'zebras.md'), ZEBRAS);
  const owls = join(home, 'docs', 'birds', 'the owls.md');
  await writeFile(owls, OWLS);
  await runInProcess(['ingest', 'docs', '-c', 'web_documents'], { home });
  const ask = (question: string) => runInProcess(['ask', question], { home });
  expect((await ask('What is an owl?')).stdout).not.toContain('gone');

  await rm(join(home, 'docs', 'birds'), { recursive: true });
  const { stdout } = await runInProcess(['ingest', 'docs', '-c', 'web_documents'], { home });
  expect(stdout).toContain('1 deleted: birds/the owls.md. Use --prune to remove it.\n');
  expect((await ask('What is an owl?')).stdout).toContain('birds/the owls.md (file deleted)');
  expect((await ask('What is a zebra?')).stdout).not.toContain('gone');
  const owl = ['ask', 'What is an owl?'];
  const asJson = JSON.parse((await runInProcess([...owl, '--json'], { home })).stdout);
  expect(asJson.citations).toMatchObject([{ title: 'Owls', gone: true }]);
  expect((await runInProcess([...owl, '--format', 'md'], { home })).stdout).toContain(', file deleted');
  const zebra = JSON.parse((await runInProcess(['ask', 'What is a zebra?', '--json'], { home })).stdout);
  expect(zebra.citations[0]).not.toHaveProperty('gone');

  expect(
    (await runInProcess(['ingest', 'docs', '-c', 'web_documents', '--prune'], { home })).stdout,
  ).toContain('1 removed');
  expect((await runInProcess(['ingest', 'docs', '-c', 'web_documents'], { home })).stdout).not.toContain(
    'gone',
  );
});

test('--prune removes the documents of a directory that has become empty', async () => {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs', 'birds'), { recursive: true });
  await writeFile(join(home, 'docs', 'zebras.md'), ZEBRAS);
  await writeFile(join(home, 'docs', 'birds', 'owls.md'), OWLS);
  const ingest = (...args: string[]) => runInProcess(['ingest', ...args], { home });
  await ingest('docs', '--base-url', 'https://zoo.test');
  await rm(join(home, 'docs', 'birds'), { recursive: true });
  await rm(join(home, 'docs', 'zebras.md'));
  expect((await ingest('docs')).code).toBe(2);
  const pruned = await ingest('docs', '--prune');
  expect(pruned.code).toBe(0);
  expect(pruned.stdout).toContain('_docs: 2 removed');
});

test('--prune refuses a directory that does not exist', async () => {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs', 'zebras.md'), ZEBRAS);
  await runInProcess(['ingest', 'docs', '-c', 'web_documents'], { home });
  await rm(join(home, 'docs'), { recursive: true });
  const { code, stderr } = await runInProcess(['ingest', 'docs', '-c', 'web_documents', '--prune'], { home });
  expect(code).toBe(2);
  expect(stderr).toContain('docs does not exist.');
  const removed = await runInProcess(['collections', 'remove', 'web_documents', 'docs'], { home });
  expect(removed.stdout).toBe('Removed 1 document from web_documents.\n');
});
