import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const DOCUMENTS = {
  'zebras.md': '# Zebras\n\nA zebra is a striped horse that lives in Africa.\n',
  'owls.md': '# Owls\n\nAn owl is a bird that hunts at night.\n',
  'newts.md': '# Newts\n\nA newt is a small animal that lives in ponds.\n',
  'dodos.md': '# Dodos\n\nA dodo is a bird that could not fly.\n',
};

/** A home directory with documents, cases about them, and the id of the chunk about owls. */
async function createLibrary() {
  const home = await createTemporaryDirectory();
  const run = (...args: string[]) => runInProcess(args, { home });
  const write = (name: string, text: string) => writeFile(join(home, 'docs', name), text);
  await mkdir(join(home, 'docs'));
  for (const [name, text] of Object.entries(DOCUMENTS)) await write(name, text);
  await run('ingest', 'docs');
  const found = JSON.parse((await run('search', 'owl', '--json')).stdout);
  const owls = found.chunks.find(({ url }: { url: string }) => url === 'owls.md').chunkId;
  const source = (name: string, phrase: string) => ({
    id: name,
    question: `What is a ${name}?`,
    // A path may start above the ingested folder.
    expectedSources: [`${name === 'zebra' ? 'docs/' : ''}${name}s.md`],
    expectedPhrases: [phrase],
  });
  const cases = [
    source('zebra', 'striped horse'),
    { id: 'owl', question: 'What is an owl?', expectedChunks: [owls], expectedPhrases: ['at night'] },
    source('newt', 'lives in ponds'),
    source('dodo', 'could not fly'),
    { id: 'hello', question: 'Hello!', needsRetrieval: false },
  ];
  await writeFile(join(home, 'cases.jsonl'), cases.map((item) => `${JSON.stringify(item)}\n`).join(''));
  return { home, owls, run, write };
}

test('lists cases whose sources or chunks changed, moved or vanished since they were measured', async () => {
  const { home, owls, run, write } = await createLibrary();
  const before = await run('eval', 'stale', 'cases.jsonl');
  expect(before.code).toBe(0);
  expect(before.stdout).toContain('4 cases not in the run');
  await run('eval', 'cases.jsonl', '--json', 'base.json');
  const same = await run('eval', 'stale', 'cases.jsonl');
  expect(same).toMatchObject({ code: 0, stdout: 'The sources of 4 cases are unchanged.\n' });

  await write('zebras.md', '# Zebras\n\nA zebra is an animal of the zoo.\n');
  await write('owls.md', `# Owls\n\n## Sleep\n\n${'They sleep by day. '.repeat(90)}\n`);
  await write('more.md', DOCUMENTS['owls.md']);
  await rename(join(home, 'docs', 'newts.md'), join(home, 'docs', 'ponds.md'));
  await rm(join(home, 'docs', 'dodos.md'));
  await run('ingest', 'docs', '--prune');
  const { code, stdout } = await run('eval', 'stale', 'cases.jsonl');
  expect(code).toBe(7);
  expect(stdout).toContain('zebras.md: content changed\n  missing phrases: “striped horse”');
  expect(stdout).toContain(`${owls}: moved to `);
  expect(stdout).toContain('(more.md)');
  expect(stdout).toContain('newts.md: moved to ponds.md');
  expect(stdout).toContain('dodos.md: not in the collection');
  expect(stdout).toContain('4 of 5 cases to review.');
  const result = JSON.parse((await run('eval', 'stale', 'cases.jsonl', '--json')).stdout);
  expect(result.stale).toMatchObject([
    { id: 'zebra', gold: [{ became: 'changed' }], missing: ['striped horse'] },
    { id: 'owl', gold: [{ expected: owls, became: 'moved', url: 'more.md' }] },
    { id: 'newt', gold: [{ became: 'moved', to: 'ponds.md' }] },
    { id: 'dodo', gold: [{ became: 'vanished' }], missing: null },
  ]);
  expect((await run('eval', 'stale', 'cases.jsonl', '--since', 'base.json')).code).toBe(7);
  // The last run is the default: what it measured counts as reviewed, except for missing sources.
  await run('eval', 'cases.jsonl');
  const after = JSON.parse((await run('eval', 'stale', 'cases.jsonl', '--json')).stdout);
  expect(after.stale.map(({ id }: { id: string }) => id)).toEqual(['newt', 'dodo']);
});

test('needs no review of a changed source that contains every expected phrase', async () => {
  const { run, write } = await createLibrary();
  await run('eval', 'cases.jsonl');
  await write('zebras.md', `${DOCUMENTS['zebras.md']}\nIt eats grass.\n`);
  await run('ingest', 'docs');
  const { code, stdout } = await run('eval', 'stale', 'cases.jsonl');
  expect(code).toBe(0);
  expect(stdout).toContain('zebras.md: content changed\n  all expected phrases are still there');
  expect(stdout).toContain('0 of 5 cases to review.');
});

test('needs a review of a source whose file was deleted, before it is pruned', async () => {
  const { home, run, write } = await createLibrary();
  await write('copy of newts.md', DOCUMENTS['newts.md']);
  await run('ingest', 'docs');
  await run('eval', 'cases.jsonl');
  await rm(join(home, 'docs', 'newts.md'));
  await rm(join(home, 'docs', 'dodos.md'));
  await rm(join(home, 'docs', 'owls.md'));
  await run('ingest', 'docs');
  const { code, stdout } = await run('eval', 'stale', 'cases.jsonl');
  expect(code).toBe(7);
  expect(stdout).toContain('dodos.md: file deleted');
  expect(stdout).toContain('3 of 5 cases to review.');
  const { stale } = JSON.parse((await run('eval', 'stale', 'cases.jsonl', '--json')).stdout);
  expect(stale).toMatchObject([
    { id: 'owl', gold: [{ became: 'gone' }], missing: null },
    { id: 'newt', gold: [{ became: 'moved', to: 'copy of newts.md' }] },
    { id: 'dodo', gold: [{ became: 'gone' }], missing: null },
  ]);
});
