import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSqliteSessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { toCitableSource, toCitation } from '../../../src/domain/citation.ts';
import { conversationSessionSchema, resetSession } from '../../../src/domain/conversation-session.ts';
import { conversationTurnSchema } from '../../../src/domain/conversation-turn.ts';
import type { RetrievedChunk } from '../../../src/domain/retrieved-chunk.ts';
import { sampleDocument } from '../../contracts/sample-documents.ts';
import { NOW, type SampleTurn, sampleSession, sampleTurn } from '../../contracts/sample-sessions.ts';
import { runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const ANNA = 'aaaa1111-0000-4000-8000-000000000001';
const BERT = 'aaaa2222-0000-4000-8000-000000000002';

async function machine() {
  const home = await createTemporaryDirectory();
  return { home, run: (...args: string[]) => runInProcess(args, { home }) };
}

interface Conversation {
  sessionId: string;
  user?: string | null;
  turns: SampleTurn[];
  /** Reset after this many turns. */
  resetAfter?: number;
}

async function record(home: string, ...conversations: Conversation[]): Promise<void> {
  const store = createSqliteSessionStore(join(home, 'sessions.sqlite'));
  for (const { sessionId, user = null, turns, resetAfter } of conversations) {
    let session = sampleSession({ sessionId });
    await store.create(session, user);
    for (const [index, sample] of turns.entries()) {
      const next = sampleTurn(session, sample);
      await store.commitTurn(next.session, next.messages, next.turn);
      session = next.session;
      if (index + 1 === resetAfter) {
        session = resetSession(session, NOW);
        await store.update(session);
      }
    }
  }
  await store.close();
}

/** Writes documents of one chunk each into the collection of the sessions. */
async function collect(home: string, documents: Record<string, string>): Promise<RetrievedChunk[]> {
  const catalog = createSqliteCatalog(join(home, 'collections'));
  const store = await catalog.openOrCreate('web_documents', { embedder: 'test', dimensions: 8 });
  const writes = Object.entries(documents).map(([name, text]) => sampleDocument(name, 8, { chunks: [text] }));
  await store.write(writes);
  const chunks = await store.chunks(writes.flatMap((write) => write.chunks.map(({ chunkId }) => chunkId)));
  await store.close();
  return chunks.map((chunk, index) => ({ ...chunk, score: 0.83, rank: index + 1 }));
}

function cited(chunks: readonly RetrievedChunk[]) {
  return chunks.map((chunk, index) => toCitation(toCitableSource(chunk, String(index + 1)), 'supported'));
}

test('an empty list says how to start a session, and creates no file', async () => {
  const { home, run } = await machine();
  expect((await run('sessions')).stdout).toContain('citeloop chat');
  expect(await run('sessions', 'list', '--json')).toMatchObject({ code: 0, stdout: '{"sessions":[]}\n' });
  expect((await run('sessions', 'show', 'last')).code).toBe(2);
  await expect(readFile(join(home, 'sessions.sqlite'))).rejects.toThrow('ENOENT');
});

test('sessions are listed newest first, by user and up to a limit', async () => {
  const { home, run } = await machine();
  await record(
    home,
    { sessionId: ANNA, user: 'anna', turns: [{ question: 'What is a node?' }, {}] },
    { sessionId: BERT, user: 'bert', turns: [{ question: 'What is a topic?' }] },
  );
  const listed = await runCli(['sessions'], { home });
  expect(listed.stdout).toMatch(
    /^id +updated .* first question\naaaa2222 .* 1 .*bert +What is a topic\?\naaaa1111 .* 2 /,
  );
  const json = JSON.parse((await run('sessions', 'list', '--user', 'anna', '--json')).stdout);
  expect(json.sessions).toMatchObject([
    { sessionId: ANNA, user: 'anna', turnCount: 2, title: 'What is a node?' },
  ]);
  const limited = await run('sessions', '--limit', '1');
  expect(limited.stdout).toContain('aaaa2222');
  expect(limited.stdout).not.toContain('aaaa1111');
  expect(limited.stdout).toContain('Use --limit to list more.');
  expect(await run('sessions', 'list', '--limit', '0')).toMatchObject({ code: 2 });
});

test('open takes a source number of the last session, or a session and a number', async () => {
  const { home, run } = await machine();
  const chunks = await collect(home, { owls: 'Owls hunt.', robins: 'Robins sing.' });
  const turns = [{ answer: 'Owls hunt. [1] Robins sing. [2]', chunks, citations: cited(chunks) }];
  await record(home, { sessionId: ANNA, turns }, { sessionId: BERT, turns: [{}] });
  expect(JSON.parse((await run('open', 'aaaa1111', '2', '--json')).stdout).url).toBe(chunks[1]?.url);
  expect(await run('open', '2', '--json')).toMatchObject({ code: 2 });
});

test('shows answers and sources of a session', async () => {
  const { home, run } = await machine();
  const chunks = await collect(home, { owls: 'Owls hunt.' });
  const first = { question: 'What do birds do?', answer: 'Owls hunt. [1]', chunks, citations: cited(chunks) };
  await record(home, { sessionId: ANNA, user: 'anna', turns: [first, {}], resetAfter: 1 });

  const { code, stdout } = await run('sessions', 'show', 'aaaa1111');
  expect(code).toBe(0);
  expect(stdout).toContain(ANNA);
  expect(stdout).toContain('user anna');
  expect(stdout).toContain('1. What do birds do?\nOwls hunt. [1]\n');
  expect(stdout).toMatch(/\[1\] owls +https:\/\/book\.example\/owls/);
  expect(stdout).toMatch(/\n\n2\. Question 2\?/);

  const json = JSON.parse((await run('sessions', 'show', 'last', '--json')).stdout);
  expect(json).toMatchObject({
    session: { sessionId: ANNA, turnCount: 1, segments: [{ turnCount: 1 }] },
    user: 'anna',
  });
  expect(json.turns).toHaveLength(2);
});

test('exports a session as JSON or as a transcript with links', async () => {
  const { home, run } = await machine();
  const chunks = await collect(home, { owl: 'Owls hunt.' });
  const first = { question: 'What do owls do?', answer: 'Owls hunt. [1]', chunks, citations: cited(chunks) };
  await record(home, { sessionId: ANNA, turns: [first, {}] });

  for (const args of [[], ['--json'], ['--format', 'json']]) {
    const exported = JSON.parse((await run('sessions', 'export', 'last', ...args)).stdout);
    expect(conversationSessionSchema.parse(exported.session).messages).toHaveLength(9);
    expect(exported.turns).toHaveLength(2);
    expect(conversationTurnSchema.parse(exported.turns[0].turn).userQuery).toBe('What do owls do?');
  }

  const { stdout } = await run('sessions', 'export', 'last', '--format', 'md');
  expect(stdout).toContain('# What do owls do?');
  expect(stdout).toContain('[Source: owl](https://book.example/owl)');

  expect(await run('sessions', 'export', 'last', '--output', 'talk.md')).toMatchObject({
    code: 0,
    stdout: '',
  });
  expect(await readFile(join(home, 'talk.md'), 'utf8')).toBe(stdout);
  const written = await run('sessions', 'export', 'last', '-o', 'talk.json', '--json');
  expect(JSON.parse(written.stdout)).toEqual({ exported: ANNA, format: 'json', output: 'talk.json' });
  expect(JSON.parse(await readFile(join(home, 'talk.json'), 'utf8')).session.sessionId).toBe(ANNA);

  expect(await run('sessions', 'export', 'last', '--format', 'md', '--json')).toMatchObject({ code: 2 });
  expect(await run('sessions', 'export', 'last', '--output', '/dev/null/talk.md')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('/dev/null/talk.md'),
  });
});

test('exports a session as Chat Completions messages', async () => {
  const { home, run } = await machine();
  const chunks = await collect(home, { owl: 'Owls hunt.' });
  await record(home, { sessionId: ANNA, turns: [{ chunks, citations: cited(chunks) }] });
  const { stdout } = await run('sessions', 'export', 'last', '--format', 'openai');
  expect(JSON.parse(stdout).messages).toMatchObject([
    { role: 'system' },
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'search_docs' } }] },
    { role: 'tool' },
    { role: 'assistant' },
  ]);
});

test('deletes a session after confirmation', async () => {
  const { home, run } = await machine();
  await record(home, { sessionId: ANNA, turns: [{}] }, { sessionId: BERT, turns: [{}] });
  expect(await run('sessions', 'delete', 'aaaa1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect(await run('sessions', 'delete', 'AAAA1', '--yes')).toMatchObject({
    code: 0,
    stdout: `Deleted ${ANNA}.\n`,
  });
  expect(await run('sessions', 'delete', ANNA, '--yes')).toMatchObject({ code: 2 });
  expect(await run('sessions', 'delete', 'last', '--yes', '--json')).toMatchObject({
    code: 0,
    stdout: `{"deleted":"${BERT}"}\n`,
  });
  expect((await run('sessions', 'list', '--json')).stdout).toBe('{"sessions":[]}\n');
});

test('the beginning of an id must be unique', async () => {
  const { home, run } = await machine();
  await record(home, { sessionId: ANNA, turns: [{}] }, { sessionId: BERT, turns: [{}] });
  const ambiguous = await run('sessions', 'show', 'aaaa');
  expect(ambiguous).toMatchObject({ code: 2, stderr: expect.stringContaining('2 sessions begin with') });
  expect(ambiguous.stderr).toContain(ANNA);
  expect((await run('sessions', 'show', 'aaa')).stderr).toContain('at least 4');
  expect((await run('sessions', 'show', 'bbbb')).stderr).toContain('no session "bbbb"');
  expect((await run('sessions', 'show')).code).toBe(2);
});

test('escape sequences of models and documents never reach the terminal', async () => {
  const { home, run } = await machine();
  const evil = 'red \x1b[31malert\x1b]0;title\x07 \x9b2J \u202eevil';
  const [chunk] = await collect(home, { [evil]: evil });
  const chunks = chunk === undefined ? [] : [{ ...chunk, url: `https://x.test/${evil}%zz`, title: evil }];
  const turn = { question: evil, answer: evil, chunks, citations: cited(chunks) };
  await record(home, { sessionId: ANNA, user: evil, turns: [turn] });
  for (const args of [['list'], ['show', 'last'], ['export', 'last', '--format', 'md']]) {
    const { code, stdout } = await run('sessions', ...args);
    expect(code).toBe(0);
    expect(stdout).toContain('red alert');
    expect(stdout).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  }
});

test('reports a damaged file with a hint', async () => {
  const { home, run } = await machine();
  await writeFile(join(home, 'sessions.sqlite'), 'not a database '.repeat(500));
  const { code, stdout } = await run('sessions', 'list', '--json');
  expect(code).toBe(4);
  expect(JSON.parse(stdout).error).toMatchObject({ errorType: 'retrieval_error' });
});
