import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSqliteSessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import { formatHint } from '../../src/cli/format-advice.ts';
import { advice, settingName, settingValue } from '../../src/faults/advice.ts';
import { AppError } from '../../src/faults/app-error.ts';
import { sampleSession, sampleTurn } from '../contracts/sample-sessions.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

const IDENTITY = { embedder: 'test:advice', dimensions: 4 };

/** The hint of an error as text and in JSON. */
async function hintOf(work: Promise<unknown>): Promise<string> {
  const fault = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(fault instanceof AppError)) throw new Error('It should have failed with an AppError.');
  const hint = formatHint(fault);
  return hint;
}

test('names the command that deletes an unreadable collection', async () => {
  const directory = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(directory, { busyTimeoutMs: 50 });
  await (await catalog.openOrCreate('book', IDENTITY)).close();
  expect(await hintOf(catalog.openOrCreate('book', { ...IDENTITY, dimensions: 8 }))).toBe(
    'Use that embedder, choose another --collection, or remove this one with `citeloop collections delete book` and ingest again.',
  );
  writeFileSync(join(directory, 'letter.sqlite'), 'This is no database. '.repeat(100));
  expect(await hintOf(catalog.open('letter'))).toBe(
    'Restore it from a backup, or remove it with `citeloop collections delete` and ingest again.',
  );
});

test('names the command that deletes a damaged session', async () => {
  const path = join(await createTemporaryDirectory(), 'sessions.sqlite');
  const session = sampleSession();
  const writer = createSqliteSessionStore(path);
  await writer.create(session, null);
  const next = sampleTurn(session);
  await writer.commitTurn(next.session, next.messages, next.turn);
  await writer.close();
  const database = new DatabaseSync(path);
  database.exec("UPDATE turn SET body = 'x'");
  database.close();
  const store = createSqliteSessionStore(path);
  expect(await hintOf(store.lastTurn(session.sessionId))).toBe(
    `Restore it from a backup, or remove it with: citeloop sessions delete ${session.sessionId}`,
  );
  await store.close();
});

test('names slash commands in a chat', () => {
  const fault = new AppError('configuration_error', 'It needs a key.', {
    hint: advice`Set a key, name a server with ${settingName('baseUrl')}, or use ${settingValue('model', 'offline', 'the model offline')}.`,
  });
  expect(formatHint(fault)).toBe('Set a key, name a server with --base-url, or use --model offline.');
  expect(formatHint(fault, { inChat: true })).toBe(
    'Set a key, name a server with --base-url, or use /model offline.',
  );
});
