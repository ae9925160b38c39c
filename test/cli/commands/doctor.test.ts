import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSqliteSessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { sampleSession } from '../../contracts/sample-sessions.ts';
import { listenForTest } from '../../support/listen-for-test.ts';
import { runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

interface Check {
  name: string;
  ok: boolean;
  detail: string;
  fix: string | null;
}

interface DoctorOptions {
  home?: string;
  start?: typeof runCli;
}

async function doctor(env: Record<string, string> = {}, { home, start = runInProcess }: DoctorOptions = {}) {
  const result = await start(['doctor', '--json'], { home: home ?? (await createTemporaryDirectory()), env });
  const { ok, checks } = JSON.parse(result.stdout) as { ok: boolean; checks: Check[] };
  return { ...result, ok, check: (name: string) => checks.find((check) => check.name === name), checks };
}

/** A data directory with one session, whose file has a page of zeros. */
async function homeWithDamagedSessions(): Promise<string> {
  const home = await createTemporaryDirectory();
  const path = join(home, 'sessions.sqlite');
  const store = createSqliteSessionStore(path);
  await store.create(sampleSession(), null);
  await store.close();
  await writeFile(path, (await readFile(path)).fill(0, 3 * 4096, 4 * 4096));
  return home;
}

/** A service that accepts one key in the given header. */
async function service(header: string, accepted: string): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.headers[header] === accepted ? 200 : 401).end('{}');
  });
  return (await listenForTest(server)).origin;
}

test('every check passes on a healthy machine, and an empty collection is reported', async () => {
  const home = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(join(home, 'collections'));
  await (await catalog.openOrCreate('gnus', { embedder: 'words', dimensions: 8 })).close();
  const { code, ok, checks, check } = await doctor({}, { home, start: runCli });
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(checks.map(({ name }) => name)).toEqual([
    'node',
    'settings',
    'data directory',
    'embedding model',
    'embedder',
    'store',
    'collection gnus',
    'model',
  ]);
  expect(check('collection gnus')).toMatchObject({
    detail: expect.stringContaining('empty'),
    fix: expect.stringContaining('citeloop ingest <path> --collection gnus'),
  });
});

test('a missing model and damaged sessions fail with a fix', async () => {
  const home = await homeWithDamagedSessions();
  const { code, check } = await doctor({ CITELOOP_MODEL_DIR: '/nowhere' }, { home });
  expect(check('sessions')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('damaged'),
    fix: expect.stringContaining('backup'),
  });
  expect(code).toBe(3);
  expect(check('embedding model')).toMatchObject({
    ok: false,
    fix: expect.stringContaining('CITELOOP_MODEL_DIR'),
  });
});

test('services that answer and accept the key pass', async () => {
  const { check } = await doctor({
    QDRANT_URL: await service('api-key', 'q-key'),
    QDRANT_API_KEY: 'q-key',
    OPENAI_BASE_URL: `${await service('authorization', 'Bearer o-key')}/v1`,
    OPENAI_API_KEY: 'o-key',
  });
  expect(check('qdrant')).toMatchObject({ ok: true });
  expect(check('model service')).toMatchObject({ ok: true });
});

test('distinguishes a rejected key from an unreachable service, and prints no key', async () => {
  const { code, check, stdout, stderr } = await doctor({
    QDRANT_URL: 'http://127.0.0.1:9',
    QDRANT_API_KEY: 'q-secret-key',
    OPENAI_BASE_URL: await service('authorization', 'Bearer right'),
    OPENAI_API_KEY: 'o-secret-key',
  });
  expect(code).toBe(3);
  expect(check('qdrant')).toMatchObject({ ok: false, detail: expect.stringContaining('Cannot reach') });
  expect(check('model service')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('refuses the key'),
  });
  expect(stdout + stderr).not.toMatch(/secret-key/);
});
