import type { Model, ModelRequest } from '@openai/agents';
import { modelError, ScriptedModel } from '@openai/agents/testing';
import { expect, test } from 'vitest';
import { createSession } from '../../../src/domain/conversation-session.ts';
import { createCallLimiter } from '../../../src/server/mcp/call-limiter.ts';
import { connectInMemory, textOf } from './connect-mcp.ts';
import { mcpLibrary } from './small-mcp-library.ts';

const BOOK = {
  'isaac/Isaac Sim Overview':
    'Isaac Sim is a robot simulator built on Omniverse. It runs on a workstation with an RTX graphics card.',
  'ros2/Nodes': 'A ROS 2 node is a process that computes. Nodes exchange messages over topics.',
};

/** A model that waits until it is aborted. */
function silentModel() {
  const begun = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const wait = ({ signal }: ModelRequest) =>
    new Promise<never>((_, reject) => {
      begun.resolve();
      signal?.addEventListener('abort', () => {
        stopped.resolve();
        reject(signal.reason);
      });
    });
  const model: Model = {
    getResponse: wait,
    // biome-ignore lint/correctness/useYield: it never has anything to yield.
    async *getStreamedResponse(request) {
      await wait(request);
    },
  };
  return { model, begun: begun.promise, stopped: stopped.promise };
}

test('answers questions of one session one after the other', async () => {
  const { library, sessions } = await mcpLibrary(BOOK);
  const client = await connectInMemory(library);
  const first = await client.callTool({ name: 'ask', arguments: { question: 'What is Isaac Sim?' } });
  const { session_id } = first.structuredContent as { session_id: string };
  const answers = await Promise.all(
    ['What is a node?', 'What is Omniverse?', 'What are topics?', 'What is a workstation?'].map((question) =>
      client.callTool({ name: 'ask', arguments: { question, session_id } }),
    ),
  );
  expect(
    answers.map(({ structuredContent }) => (structuredContent as { turn_number: number }).turn_number),
  ).toEqual([2, 3, 4, 5]);
  expect((await sessions.load(session_id))?.session.turnCount).toBe(5);
});

test('rejects sessions of other collections', async () => {
  const { library, sessions } = await mcpLibrary(BOOK);
  const client = await connectInMemory(library);
  const sessionId = '11111111-1111-4111-8111-111111111111';
  const timestamp = new Date().toISOString();
  const systemMessage = {
    id: 's',
    role: 'system' as const,
    content: 'Secret plans.',
    citations: [],
    tokenCount: 1,
    timestamp,
    metadata: {},
  };
  await sessions.create(
    createSession({
      sessionId,
      createdAt: timestamp,
      model: 'offline',
      policy: 'tool',
      collection: 'another',
      systemMessage,
    }),
    null,
  );
  const ask = (session_id: string) =>
    client.callTool({ name: 'ask', arguments: { question: 'What did I ask?', session_id } });
  const other = await ask(sessionId);
  const unknown = await ask('22222222-2222-4222-8222-222222222222');
  expect(other.isError).toBe(true);
  expect(textOf(other)).toBe(textOf(unknown).replace(/2222[\d-]+/, sessionId));
});

test('stops the model and stores nothing when a question is cancelled', async () => {
  const { model, begun, stopped } = silentModel();
  const { library, sessions } = await mcpLibrary(BOOK, { model });
  const client = await connectInMemory(library);
  const controller = new AbortController();
  const asked = client.callTool({ name: 'ask', arguments: { question: 'What is ROS 2?' } }, undefined, {
    signal: controller.signal,
  });
  const refused = expect(asked).rejects.toThrow();
  await begun;
  controller.abort('changed my mind');
  await refused;
  await stopped;
  expect(await sessions.list()).toEqual([]);
});

test('stops the calls of a client that disconnects', async () => {
  const { model, begun, stopped } = silentModel();
  const { library } = await mcpLibrary(BOOK, { model });
  const client = await connectInMemory(library);
  const refused = expect(
    client.callTool({ name: 'ask', arguments: { question: 'What?' } }),
  ).rejects.toThrow();
  await begun;
  await client.close();
  await refused;
  await stopped;
});

test('logs internal errors and hides their message from the client', async () => {
  const { library } = await mcpLibrary(BOOK);
  const faults: string[] = [];
  const broken = {
    ...library,
    collection: async () => {
      throw new TypeError('cannot read /home/someone/private.key');
    },
  };
  const client = await connectInMemory(broken, { onError: (message) => faults.push(message) });
  const result = await client.callTool({ name: 'search_docs', arguments: { query: 'nodes' } });
  expect(result.isError).toBe(true);
  expect(textOf(result)).not.toContain('private.key');
  expect(faults).toEqual(['search_docs failed: cannot read /home/someone/private.key']);
});

test('reports the call limit with a retry time', async () => {
  const { model, begun } = silentModel();
  const { library } = await mcpLibrary(BOOK, { model });
  const client = await connectInMemory(library, { tracker: createCallLimiter(1) });
  const controller = new AbortController();
  const asked = client
    .callTool({ name: 'ask', arguments: { question: 'What?' } }, undefined, { signal: controller.signal })
    .catch(() => {});
  await begun;
  const result = await client.callTool({ name: 'search_docs', arguments: { query: 'nodes' } });
  expect(result).toMatchObject({
    isError: true,
    _meta: { 'citeloop/error': { errorType: 'rate_limit', retryAfter: 1, recoverable: true } },
  });
  controller.abort();
  await asked;
});

test('reads the requested number of neighbours', async () => {
  const text = Array.from({ length: 400 }, (_, index) => `Sentence number ${index} is about nodes.`).join(
    ' ',
  );
  const { library } = await mcpLibrary({ 'm/Long': text });
  const client = await connectInMemory(library);
  const found = await client.callTool({ name: 'search_docs', arguments: { query: 'nodes', top_k: 20 } });
  const { results } = found.structuredContent as { results: { ref: string }[] };
  const read = async (before: number, after: number) => {
    const source = await client.callTool({
      name: 'read_source',
      arguments: { ref: results[0]?.ref, before, after },
    });
    return (source.structuredContent as { passages: { ref: string; text: string }[] }).passages;
  };
  expect((await read(0, 0)).map(({ ref }) => ref)).toEqual([results[0]?.ref]);
  const all = await read(20, 20);
  expect(all.length).toBeGreaterThan(3);
  expect(all[0]?.text).toMatch(/^Sentence number 0 /);
});

test('ends a running call with an error when the server stops', async () => {
  const { model, begun, stopped } = silentModel();
  const { library } = await mcpLibrary(BOOK, { model });
  const tracker = createCallLimiter(4);
  const client = await connectInMemory(library, { tracker });
  const asked = client.callTool({ name: 'ask', arguments: { question: 'What?' } });
  await begun;
  await tracker.drain(5);
  await stopped;
  expect(textOf(await asked)).toMatch(/^The server is stopping\./);
  const late = await client.callTool({ name: 'search_docs', arguments: { query: 'nodes' } });
  expect(textOf(late)).toMatch(/^The server is stopping\./);
});

test('removes terminal escapes from document text', async () => {
  const escapes = '\u001b]0;owned\u0007\u001b[2J\u202e\u0000';
  const { library } = await mcpLibrary({
    [`m${escapes}/Nodes${escapes}`]: `A node ${escapes}is a process that computes.`,
  });
  const client = await connectInMemory(library);
  const found = await client.callTool({ name: 'search_docs', arguments: { query: 'What is a node?' } });
  const [hit] = (found.structuredContent as { results: { ref: string; text: string }[] }).results;
  expect(hit?.text).toBe('A node is a process that computes.');
  const heard: unknown[] = [];
  const outputs = [
    found,
    await client.callTool({ name: 'read_source', arguments: { ref: hit?.ref } }),
    await client.callTool({ name: 'ask', arguments: { question: `What is a node${escapes}?` } }, undefined, {
      onprogress: (progress) => heard.push(progress),
    }),
  ];
  expect(heard).not.toEqual([]);
  for (const output of [...outputs, heard]) {
    expect(JSON.stringify(output)).not.toMatch(/\\u001b|\\u0007|\\u0000|\u202e/i);
  }
});

test('sends hints without CLI flags and commands', async () => {
  const refused = Object.assign(new Error('no such thing'), { status: 404 });
  const { library } = await mcpLibrary(BOOK, { model: new ScriptedModel([modelError(refused)]) });
  const client = await connectInMemory(library);
  const result = await client.callTool({ name: 'ask', arguments: { question: 'What?' } });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('the setting api');
  expect(textOf(result)).not.toMatch(/--\w|citeloop \w|\/reset/);
});
