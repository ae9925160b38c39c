import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { findSessionProblems } from '../../../src/adapters/sqlite/session-file.ts';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSqliteSessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { formatHint } from '../../../src/cli/format-advice.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import type { SessionStore } from '../../../src/ports/session-store.ts';
import { sampleSession, sampleTurn } from '../../contracts/sample-sessions.ts';
import { chunk } from '../../domain/arbitraries.ts';
import { threadCpuTimeMs } from '../../support/cpu-time.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

async function newPath(): Promise<string> {
  return join(await createTemporaryDirectory(), 'sessions.sqlite');
}

function openStore(path: string): SessionStore {
  const store = createSqliteSessionStore(path);
  onTestFinished(() => store.close());
  return store;
}

/** Starts a process that commits turns; `acknowledged` is the last one it reported. */
function startCommitting(path: string, turns: number) {
  const sessionId = randomUUID();
  const script = join(import.meta.dirname, 'commit-turns.ts');
  const child = endWithParent(
    spawn(process.execPath, [script, path, sessionId, String(turns)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const closed = once(child, 'close');
  let output = '';
  const lines = () => output.split('\n').length - 1;
  const committed = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (lines() >= 5) resolve();
    });
  });
  return { sessionId, child, closed, committed, acknowledged: lines };
}

/** Writes a session of two turns and damages the file with SQL. */
async function spoiled(sql: string): Promise<{ path: string; sessionId: string }> {
  const path = await newPath();
  const store = openStore(path);
  let session = sampleSession();
  await store.create(session, null);
  for (let number = 1; number <= 2; number += 1) {
    const next = sampleTurn(session);
    await store.commitTurn(next.session, next.messages, next.turn);
    session = next.session;
  }
  await store.close();
  withDatabase(path, (database) => database.exec(sql));
  return { path, sessionId: session.sessionId };
}

function withDatabase<T>(path: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

async function failureOf(attempt: Promise<unknown>): Promise<AppError> {
  const failure = await attempt.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(AppError);
  return failure as AppError;
}

test('a killed process loses no committed turn', async () => {
  const path = await newPath();
  for (const delay of [0, 3, 11]) {
    const { sessionId, child, closed, committed, acknowledged } = startCommitting(path, 100_000);
    await committed;
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill('SIGKILL');
    await closed;
    const store = openStore(path);
    const turns = await Array.fromAsync(store.turns(sessionId));
    expect(turns.length).toBeGreaterThanOrEqual(acknowledged());
    expect(turns.map(({ turn }) => turn.response.turnNumber)).toEqual(turns.map((_, index) => index + 1));
    const loaded = await store.load(sessionId);
    expect(loaded?.session).toMatchObject({ turnCount: turns.length, totalTokensUsed: turns.length * 30 });
    expect(loaded?.session.messages).toHaveLength(1 + 4 * turns.length);
    await store.close();
  }
});

test('several processes create the file and write sessions at once', async () => {
  const path = await newPath();
  const processes = Array.from({ length: 4 }, () => startCommitting(path, 25));
  for (const { closed } of processes) expect(await closed).toEqual([0, null]);
  const store = openStore(path);
  expect((await store.list()).map(({ turnCount }) => turnCount)).toEqual([25, 25, 25, 25]);
  for (const { sessionId } of processes) {
    expect(await Array.fromAsync(store.turns(sessionId))).toHaveLength(25);
  }
});

test('creates the file on the first write, readable only by its owner', async () => {
  const directory = await createTemporaryDirectory();
  const path = join(directory, 'home', 'sessions.sqlite');
  const store = openStore(path);
  await store.list();
  expect(await readdir(directory)).toEqual([]);
  await store.create(sampleSession(), null);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(`${path}-wal`)).mode & 0o777).toBe(0o600);
});

test('a turn only adds rows, and the 500th costs no more than the first', async () => {
  const store = openStore(await newPath());
  let session = sampleSession();
  await store.create(session, null);
  const times: number[] = [];
  for (let number = 1; number <= 500; number += 1) {
    const next = sampleTurn(session);
    const before = threadCpuTimeMs();
    await store.commitTurn(next.session, next.messages, next.turn);
    times.push(threadCpuTimeMs() - before);
    session = next.session;
  }
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  expect(median(times.slice(-100))).toBeLessThan(2 * median(times.slice(0, 100)) + 1);
});

test('lists ten thousand sessions by index', async () => {
  const path = await newPath();
  const store = openStore(path);
  await store.create(sampleSession(), 'user-0');
  withDatabase(path, (database) => {
    const columns = database
      .prepare(
        "SELECT name FROM pragma_table_info('session') WHERE name NOT IN ('id', 'session_id', 'user', 'touched')",
      )
      .all()
      .map(({ name }) => String(name))
      .join(', ');
    database.exec(`
      WITH RECURSIVE counter (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM counter WHERE n < 10000)
      INSERT INTO session (session_id, user, touched, ${columns})
      SELECT printf('%08x-0000-4000-8000-000000000000', n), 'user-' || (n % 100), n, ${columns}
      FROM counter, session WHERE session.touched = 1`);
  });
  const timed = async (options: Parameters<SessionStore['list']>[0], expected: number) => {
    const before = threadCpuTimeMs();
    for (let i = 0; i < 5; i += 1) expect(await store.list(options)).toHaveLength(expected);
    return threadCpuTimeMs() - before;
  };
  const all = await timed({}, 10_000);
  expect(await timed({ limit: 20 }, 20)).toBeLessThan(all / 5);
  expect(await timed({ user: 'user-7', limit: 20 }, 20)).toBeLessThan(all / 5);
});

test('the text of a deleted session is removed from the files', async () => {
  const path = await newPath();
  const store = openStore(path);
  const session = sampleSession();
  await store.create(session, null);
  const next = sampleTurn(session, {
    question: 'Where is the treasure-4711?',
    answer: 'treasure-4711 '.repeat(900),
  });
  await store.commitTurn(next.session, next.messages, next.turn);
  const files = async () => {
    const names = ['', '-wal'].map((suffix) => `${path}${suffix}`).filter((name) => existsSync(name));
    return (await Promise.all(names.map((name) => readFile(name, 'latin1')))).join('');
  };
  expect(await files()).toContain('treasure-4711');
  await store.delete(session.sessionId);
  expect(await files()).not.toContain('treasure-4711');
});

test('reports a file that is not a database and does not change it', async () => {
  const path = await newPath();
  const bytes = 'This is not a database. '.repeat(500);
  await writeFile(path, bytes);
  for (const attempt of [openStore(path).list(), openStore(path).create(sampleSession(), null)]) {
    expect(await failureOf(attempt)).toMatchObject({
      kind: 'retrieval_error',
      hint: expect.stringContaining('backup'),
    });
  }
  expect(await readFile(path, 'utf8')).toBe(bytes);
});

test('reports damaged pages', async () => {
  const { path, sessionId } = await spoiled('PRAGMA journal_mode = DELETE');
  const bytes = await readFile(path);
  bytes.fill(0xff, 4096);
  await writeFile(path, bytes);
  const store = openStore(path);
  expect(await failureOf(store.load(sessionId))).toMatchObject({ kind: 'retrieval_error' });
  expect(await failureOf(store.create(sampleSession(), null))).toMatchObject({ kind: 'retrieval_error' });
});

test('reads records of an earlier version', async () => {
  const path = await newPath();
  const store = openStore(path);
  const { session, messages, turn } = sampleTurn(sampleSession(), { chunks: [chunk()] });
  await store.commitTurn(session, messages, turn, {
    session: sampleSession({ sessionId: session.sessionId }),
    user: null,
  });
  await store.close();
  withDatabase(path, (database) =>
    database.exec(`
      UPDATE message SET body = json_set(body, '$.content', '') WHERE position = 4;
      UPDATE turn SET body = json_set(body, '$.response.answer', '', '$.retrievals[0].chunks[0].text', '',
        '$.retrievals[0].chunks[0].tokenCount', 0, '$.retrievals[0].chunks[0].url', 'http://[');`),
  );
  const again = openStore(path);
  expect((await again.load(session.sessionId))?.session.messages.at(-1)?.content).toBe('(blank)');
  expect(await again.lastTurn(session.sessionId)).toMatchObject({
    turn: {
      response: { answer: '(blank)' },
      retrievals: [{ chunks: [{ text: '(blank)', tokenCount: 1, url: 'unknown:http%3A%2F%2F%5B' }] }],
    },
  });
});

test('upgrades a file of format 1 when it is opened, after a backup', async () => {
  const { path, sessionId } = await spoiled(
    'ALTER TABLE session DROP COLUMN is_interactive; PRAGMA user_version = 1',
  );
  const versionOf = (file: string) =>
    withDatabase(file, (database) => database.prepare('PRAGMA user_version').get()?.user_version);
  const upgrades: unknown[] = [];
  const store = createSqliteSessionStore(path, { onUpgrade: (upgrade) => upgrades.push(upgrade) });
  onTestFinished(() => store.close());
  expect((await store.load(sessionId))?.session.isInteractive).toBe(false);

  const session = sampleSession({ isInteractive: true });
  await store.create(session, null);
  expect((await openStore(path).load(session.sessionId))?.session).toEqual(session);
  const backup = `${path}.v1.bak`;
  expect(upgrades).toEqual([{ path, backup }]);
  expect([versionOf(path), versionOf(backup)]).toEqual([2, 1]);
  expect((await stat(backup)).mode & 0o777).toBe(0o600);
  // Deleted text must not stay in a backup.
  await store.delete(sessionId);
  expect(existsSync(backup)).toBe(false);
});

test('reports an empty file and a directory in place of the file', async () => {
  const path = await newPath();
  await writeFile(path, '');
  for (const attempt of [openStore(path).list(), openStore(path).create(sampleSession(), null)]) {
    expect(await failureOf(attempt)).toMatchObject({
      kind: 'retrieval_error',
      hint: expect.stringContaining('backup'),
    });
  }
  expect(await readFile(path, 'utf8')).toBe('');
  const directory = await newPath();
  await mkdir(directory);
  for (const attempt of [openStore(directory).list(), openStore(directory).create(sampleSession(), null)]) {
    expect(await failureOf(attempt)).toMatchObject({
      kind: 'configuration_error',
      message: expect.stringContaining(directory),
    });
  }
});

test('a check finds missing pages and unreadable records', async () => {
  const { path } = await spoiled('PRAGMA journal_mode = DELETE');
  expect(findSessionProblems(path, 50)).toEqual([]);
  expect(findSessionProblems(join(dirname(path), 'none.sqlite'), 50)).toEqual([]);
  const bytes = await readFile(path);
  for (let page = 2; page <= bytes.length / 4096; page += 1) {
    const damaged = Buffer.from(bytes);
    damaged.fill(0, (page - 1) * 4096, page * 4096);
    await writeFile(path, damaged);
    expect(await failureOrProblems(path), `page ${page}`).not.toEqual([]);
  }
  const unreadable = await spoiled("UPDATE turn SET body = '{' WHERE number = 2");
  expect(findSessionProblems(unreadable.path, 50)).toEqual(['1 rows of the table turn cannot be read.']);

  /** The error must say that the file is damaged. */
  async function failureOrProblems(file: string): Promise<unknown[]> {
    try {
      return findSessionProblems(file, 50);
    } catch (error) {
      expect(error).toMatchObject({ kind: 'retrieval_error', message: expect.stringContaining('damaged') });
      return [error];
    }
  }
});

test('reports a damaged header', async () => {
  const { path } = await spoiled('PRAGMA journal_mode = DELETE');
  const bytes = await readFile(path);
  for (const place of [21, 47, 59]) {
    const damaged = Buffer.from(bytes);
    damaged[place] = (damaged[place] ?? 0) ^ 0x5a;
    await writeFile(path, damaged);
    const error = await failureOf(openStore(path).create(sampleSession(), null));
    expect(error, `byte ${place}`).toMatchObject({
      kind: 'retrieval_error',
      message: expect.stringContaining('are damaged'),
    });
  }
});

test('refuses a file of a newer version, of another program or with a collection', async () => {
  const newer = (await spoiled('PRAGMA user_version = 3')).path;
  const foreign = await newPath();
  withDatabase(foreign, (database) => database.exec('CREATE TABLE precious (thing TEXT)'));
  const directory = await createTemporaryDirectory();
  const collection = await createSqliteCatalog(directory).openOrCreate('sessions', {
    embedder: 'test',
    dimensions: 8,
  });
  await collection.close();
  for (const path of [newer, foreign, join(directory, 'sessions.sqlite')]) {
    const bytes = await readFile(path);
    for (const attempt of [openStore(path).list(), openStore(path).create(sampleSession(), null)]) {
      expect(await failureOf(attempt)).toMatchObject({
        kind: 'configuration_error',
        message: expect.stringContaining(path),
        hint: expect.stringContaining('CITELOOP_HOME'),
      });
    }
    expect((await readFile(path)).equals(bytes)).toBe(true);
  }
});

test('names a directory that cannot be written to', async () => {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'file'), '');
  const path = join(directory, 'file', 'home', 'sessions.sqlite');
  expect(await failureOf(openStore(path).create(sampleSession(), null))).toMatchObject({
    kind: 'configuration_error',
    hint: expect.stringContaining('CITELOOP_HOME'),
  });
  await mkdir(join(directory, 'taken.sqlite'));
  const taken = openStore(join(directory, 'taken.sqlite'));
  await expect(taken.list()).rejects.toBeInstanceOf(AppError);
});

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)('reads a read-only file', async () => {
  const { path, sessionId } = await spoiled('PRAGMA wal_checkpoint(TRUNCATE)');
  await chmod(path, 0o400);
  await chmod(dirname(path), 0o500);
  onTestFinished(() => chmod(dirname(path), 0o700));
  const store = openStore(path);
  const loaded = await store.load(sessionId);
  expect(loaded?.session.turnCount).toBe(2);
  for (const attempt of [store.delete(sessionId), openStore(path).create(sampleSession(), null)]) {
    expect(await failureOf(attempt)).toMatchObject({ kind: 'configuration_error' });
  }
});

test.each([
  ['a message that is no JSON', "UPDATE message SET body = '{' WHERE position = 2", 'load'],
  ['a message of no known role', `UPDATE message SET body = '{"role":"boss"}' WHERE position = 2`, 'load'],
  ['a conversation without its system message', 'DELETE FROM message WHERE position = 0', 'load'],
  ['an impossible counter', 'UPDATE session SET turn_count = -1', 'load'],
  ['an unknown policy', "UPDATE session SET policy = 'sometimes'", 'list'],
  ['a turn that is no JSON', "UPDATE turn SET body = 'x' WHERE number = 2", 'lastTurn'],
  ['a turn with fields missing', "UPDATE turn SET body = '{}' WHERE number = 2", 'lastTurn'],
] as const)('%s is reported with what to do, and the session can be deleted', async (_, sql, call) => {
  const { path, sessionId } = await spoiled(sql);
  const store = openStore(path);
  const attempt = call === 'list' ? store.list() : store[call](sessionId);
  const failure = await failureOf(attempt);
  expect(failure).toMatchObject({
    kind: 'retrieval_error',
    message: expect.stringContaining(sessionId),
    hint: 'Restore it from a backup, or remove it.',
  });
  expect(formatHint(failure)).toContain(`sessions delete ${sessionId}`);
  expect(await store.delete(sessionId)).toBe(true);
  expect(await store.list()).toEqual([]);
});

test('reads the turns before a damaged one', async () => {
  const { path, sessionId } = await spoiled("UPDATE turn SET body = 'x' WHERE number = 2");
  const numbers: number[] = [];
  const reading = (async () => {
    for await (const { turn } of openStore(path).turns(sessionId)) numbers.push(turn.response.turnNumber);
  })();
  expect((await failureOf(reading)).message).toContain('turn 2');
  expect(numbers).toEqual([1]);
});
