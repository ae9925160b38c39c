import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createChatHistory, MAX_HISTORY_LINES } from '../../../src/cli/chat/chat-history.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

test('saves one message per line in a private file', async () => {
  const path = join(await createTemporaryDirectory(), 'home', 'chat-history');
  const history = createChatHistory(path);
  expect(await history.load()).toEqual([]);
  for (const message of ['one', 'two\nlines', 'two lines', ' ']) await history.add(message);
  expect(await createChatHistory(path).load()).toEqual(['one', 'two lines']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('saves concurrent messages', async () => {
  const history = createChatHistory(join(await createTemporaryDirectory(), 'chat-history'));
  await Promise.all(['a', 'b', 'c'].map((message) => history.add(message)));
  expect(await history.load()).toEqual(['a', 'b', 'c']);
});

test('keeps only the newest messages', async () => {
  const path = join(await createTemporaryDirectory(), 'chat-history');
  await writeFile(path, Array.from({ length: 1500 }, (_, line) => `q${line}\n`).join(''));
  const history = createChatHistory(path);
  await history.add('newest');
  const lines = await history.load();
  expect(lines).toHaveLength(MAX_HISTORY_LINES);
  expect([lines[0], lines.at(-1)]).toEqual(['q501', 'newest']);
});

test('ignores an unwritable file', async () => {
  const history = createChatHistory('/dev/null/chat-history');
  await history.add('one');
  expect(await history.load()).toEqual([]);
});
