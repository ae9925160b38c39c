import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

test('suggests a comparison only from the second run on', async () => {
  const home = await createTemporaryDirectory();
  const run = (...args: string[]) => runInProcess(args, { home });
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs', 'owls.md'), '# Owls\n\nAn owl is a bird that hunts at night.\n');
  const owl = { id: 'owl', question: 'What is an owl?', expectedPhrases: ['hunts at night'] };
  await writeFile(join(home, 'cases.jsonl'), JSON.stringify(owl));
  await run('ingest', 'docs');
  expect((await run('eval', 'cases.jsonl')).stdout).toMatch(/\nSaved as run [\d-]+\.\n$/);
  expect(await run('eval', 'diff', 'last~1', 'last')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/"last~1".* 1 run/),
  });
  expect((await run('eval', 'cases.jsonl')).stdout).toMatch(/Saved as run .*: citeloop eval diff\n$/);
});
