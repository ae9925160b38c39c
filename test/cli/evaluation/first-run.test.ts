import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../../support/run-in-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

test('a first run leads to no comparison, and is told alone where one is asked for', async () => {
  const home = await temporaryDirectory();
  const run = (...args: string[]) => runInProcess(args, { home });
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs', 'owls.md'), '# Owls\n\nAn owl is a bird that hunts at night.\n');
  const owl = { id: 'owl', question: 'What is an owl?', expectedPhrases: ['hunts at night'] };
  await writeFile(join(home, 'cases.jsonl'), JSON.stringify(owl));
  await run('ingest', 'docs');
  expect((await run('eval', 'cases.jsonl')).stdout).toMatch(/\nKept as [\d-]+\.\n$/);
  expect(await run('eval', 'diff', 'last~1', 'last')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no run called "last~1": only 1 run is kept.'),
  });
  expect((await run('eval', 'cases.jsonl')).stdout).toMatch(/Kept as .*: citeloop eval diff last~1 last\n$/);
});
