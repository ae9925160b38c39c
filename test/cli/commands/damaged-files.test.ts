import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCliEnvironment, PROGRAM_PATH, runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

/** A home directory with two documents that all tests share, in order. */
const home = mkdtempSync(join(tmpdir(), 'citeloop-damaged-'));
const collection = join(home, 'collections', 'web_documents.sqlite');
const sessions = join(home, 'sessions.sqlite');
const QUESTION = 'At what pressure does the pump run?';

interface FailedOutput {
  error: unknown;
  checks: { name: string; ok: boolean; detail: string; fix: string | null }[];
}

/** Runs a command with --json and returns its exit code and parsed output. */
async function run(...args: string[]) {
  const { code, stdout } = await runInProcess([...args, '--json'], { home });
  return { code, output: JSON.parse(stdout) as FailedOutput };
}

async function doctorCheck(name: string) {
  const { code, output } = await run('doctor');
  return { code, ...output.checks.find((check) => check.name === name) };
}

/** Replaces bytes of the collection file, as a hex editor would. */
async function editCollection(from: string, to: string): Promise<void> {
  const database = new DatabaseSync(collection);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const bytes = readFileSync(collection);
  bytes.write(to, bytes.indexOf(from));
  await writeFile(collection, bytes);
}

beforeAll(async () => {
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs/pumps.md'), '# Pumps\n\nThe pump runs at forty bar.\n');
  await writeFile(join(home, 'docs/owls.md'), '# Owls\n\nOwls hunt at night.\n');
  await runCli(['ingest', 'docs', '-c', 'web_documents'], { home });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('a text that was changed in the collection file is reported and never cited', async () => {
  await editCollection('at forty bar', 'at fifty bar');
  expect(await run('search', QUESTION)).toMatchObject({ code: 4, output: { error: {} } });
  const asked = await runInProcess(['ask', QUESTION], { home });
  expect(asked.code).toBe(4);
  expect(asked.stdout).not.toContain('fifty');
  expect(await doctorCheck('collection web_documents')).toMatchObject({
    code: 3,
    ok: false,
    detail: expect.stringContaining('pumps.md'),
    fix: expect.stringContaining('citeloop ingest'),
  });
});

test('the next ingest replaces a document that was changed in the collection file', async () => {
  expect(await run('ingest', 'docs', '-c', 'web_documents')).toMatchObject({
    code: 0,
    output: { changed: 1, unchanged: 1 },
  });
  expect((await runInProcess(['ask', QUESTION], { home })).stdout).toContain('forty');
  expect(await doctorCheck('collection web_documents')).toMatchObject({ code: 0, ok: true });
});

test('an empty session file is reported, and a missing one is created', async () => {
  await writeFile(sessions, '');
  expect((await run('sessions')).code).toBe(4);
  expect((await run('ask', QUESTION)).code).toBe(4);
  expect(await doctorCheck('sessions')).toMatchObject({ code: 3, ok: false, fix: expect.any(String) });
  await rm(sessions);
  expect((await run('ask', QUESTION)).code).toBe(0);
  expect(await doctorCheck('sessions')).toMatchObject({ code: 0, ok: true });
});

test('a directory in place of the session file is reported', async () => {
  await rm(sessions);
  await mkdir(sessions);
  expect((await run('sessions')).code).toBe(3);
  expect((await run('ask', QUESTION)).code).toBe(3);
  expect(await doctorCheck('sessions')).toMatchObject({
    code: 3,
    ok: false,
    detail: expect.stringContaining('is a directory'),
  });
  await rm(sessions, { recursive: true });
});

test('an evaluation on a full disk says so', async ({ skip }) => {
  const disk = await createTemporaryDirectory();
  const cases = join(home, 'cases.jsonl');
  await writeFile(cases, `${JSON.stringify({ id: 'pump', question: QUESTION, needsRetrieval: true })}\n`);
  const script = `mount -t tmpfs -o size=8m none "$1" && cp -r "$2/collections" "$1" || exit 99
    dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null
    exec "$3" "$4" eval "$5"`;
  const { status, stderr, error } = spawnSync(
    'unshare',
    ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', disk, home, process.execPath].concat(
      PROGRAM_PATH,
      cases,
    ),
    { encoding: 'utf8', env: createCliEnvironment(disk) },
  );
  if (error !== undefined || status === 99 || /unshare/.test(stderr)) return skip();
  expect({ status, stderr }).toMatchObject({ status: 4, stderr: expect.stringContaining('disk is full') });
});
