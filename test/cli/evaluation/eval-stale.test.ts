import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../../support/run-in-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const DOCUMENTS = {
  'zebras.md': '# Zebras\n\nA zebra is a striped horse that lives in Africa.\n',
  'owls.md': '# Owls\n\nAn owl is a bird that hunts at night.\n',
  'newts.md': '# Newts\n\nA newt is a small animal that lives in ponds.\n',
  'dodos.md': '# Dodos\n\nA dodo is a bird that could not fly.\n',
};

/** A machine with some documents, cases on them, and the chunk that the owls are. */
async function aLibrary() {
  const home = await temporaryDirectory();
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
    // By a directory above what was ingested, as well.
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

test('cases whose sources or chunks changed, moved or vanished since they were measured are listed', async () => {
  const { home, owls, run, write } = await aLibrary();
  const before = await run('eval', 'stale', 'cases.jsonl');
  expect(before.code).toBe(0);
  expect(before.stdout).toContain('Of 4 cases nobody noted what the sources said');
  await run('eval', 'cases.jsonl', '--json', 'base.json');
  const same = await run('eval', 'stale', 'cases.jsonl');
  expect(same).toMatchObject({ code: 0, stdout: 'What 4 cases of 5 rest on is as it was.\n' });

  await write('zebras.md', '# Zebras\n\nA zebra is an animal of the zoo.\n');
  await write('owls.md', `# Owls\n\n## Sleep\n\n${'They sleep by day. '.repeat(90)}\n`);
  await write('more.md', DOCUMENTS['owls.md']);
  await rename(join(home, 'docs', 'newts.md'), join(home, 'docs', 'ponds.md'));
  await rm(join(home, 'docs', 'dodos.md'));
  await run('ingest', 'docs', '--prune');
  // What was first measured counts, not what was measured since.
  await run('eval', 'cases.jsonl');
  const { code, stdout } = await run('eval', 'stale', 'cases.jsonl');
  expect(code).toBe(7);
  expect(stdout).toContain('zebras.md: says something else now\n  no longer there: “striped horse”');
  expect(stdout).toContain(`${owls}: moved to `);
  expect(stdout).toContain('(more.md)');
  expect(stdout).toContain('newts.md: moved to ponds.md');
  expect(stdout).toContain('dodos.md: is no longer in the collection');
  expect(stdout).toContain('4 of 5 cases to look at.');
  const told = JSON.parse((await run('eval', 'stale', 'cases.jsonl', '--json')).stdout);
  expect(told.stale).toMatchObject([
    { id: 'zebra', gold: [{ became: 'changed' }], missing: ['striped horse'] },
    { id: 'owl', gold: [{ expected: owls, became: 'moved', url: 'more.md' }] },
    { id: 'newt', gold: [{ became: 'moved', to: 'ponds.md' }] },
    { id: 'dodo', gold: [{ became: 'vanished' }], missing: null },
  ]);
  // A report of any day can be compared with, and what the documents say today accepted.
  expect((await run('eval', 'stale', 'cases.jsonl', '--since', 'base.json')).code).toBe(7);
  expect((await run('eval', 'stale', 'cases.jsonl', '--since', 'last')).stdout).toContain('dodos.md');
  const accepted = await run('eval', 'stale', 'cases.jsonl', '--accept');
  expect(accepted.code).toBe(0);
  expect(accepted.stdout).toMatch(/What the documents say now is noted for 4 cases of 5\.\n$/);
  const after = JSON.parse((await run('eval', 'stale', 'cases.jsonl', '--json')).stdout);
  expect(after.stale.map(({ id }: { id: string }) => id)).toEqual(['newt', 'dodo']);
});

test('a source that changed and holds every expected phrase is listed, but nobody has to look', async () => {
  const { run, write } = await aLibrary();
  await run('eval', 'stale', 'cases.jsonl', '--accept');
  await write('zebras.md', `${DOCUMENTS['zebras.md']}\nIt eats grass.\n`);
  await run('ingest', 'docs');
  const { code, stdout } = await run('eval', 'stale', 'cases.jsonl');
  expect(code).toBe(0);
  expect(stdout).toContain('zebras.md: says something else now\n  every expected phrase still stands there');
  expect(stdout).toContain('0 of 5 cases to look at; 1 more whose sources changed');
});

test('a source whose file is gone is to be looked at before it is pruned', async () => {
  const { home, run, write } = await aLibrary();
  await write('copy of newts.md', DOCUMENTS['newts.md']);
  await run('ingest', 'docs');
  await run('eval', 'stale', 'cases.jsonl', '--accept');
  await rm(join(home, 'docs', 'newts.md'));
  await rm(join(home, 'docs', 'dodos.md'));
  await rm(join(home, 'docs', 'owls.md'));
  await run('ingest', 'docs');
  const { code, stdout } = await run('eval', 'stale', 'cases.jsonl');
  expect(code).toBe(7);
  expect(stdout).toContain('dodos.md: the file is gone; ingest --prune forgets it\n');
  expect(stdout).toContain('3 of 5 cases to look at.');
  const { stale } = JSON.parse((await run('eval', 'stale', 'cases.jsonl', '--json')).stdout);
  expect(stale).toMatchObject([
    { id: 'owl', gold: [{ became: 'gone' }], missing: null },
    { id: 'newt', gold: [{ became: 'moved', to: 'copy of newts.md' }] },
    { id: 'dodo', gold: [{ became: 'gone' }], missing: null },
  ]);
});
