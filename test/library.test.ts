import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { assistantMessage, functionCall, modelError, ScriptedModel } from '@openai/agents/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { createSqliteCatalog } from '../src/adapters/sqlite/sqlite-catalog.ts';
import { createMemorySessionStore } from '../src/adapters/sqlite/sqlite-session-store.ts';
import { agentResponseSchema } from '../src/domain/agent-response.ts';
import {
  AppError,
  type CreateAgentOptions,
  createAgent,
  type Model,
  type RetrieveFunction,
  toErrorResponse,
  tool,
} from '../src/index.ts';
import { createSmallLibrary } from './support/small-library.ts';
import { createTemporaryDirectory } from './support/temporary-directory.ts';

/** The library's agent on a given store and model. */
async function agentWith(model: ScriptedModel) {
  const { store, embedder } = await createSmallLibrary({ 'animals/Owls': 'An owl hunts at night.' });
  const home = await createTemporaryDirectory();
  const sessions = createMemorySessionStore();
  return createAgent({ home, store, embedder, sessions, model, modelName: 'scripted' });
}

test('asks a question and returns the response', async () => {
  const agent = await agentWith(new ScriptedModel([[assistantMessage('Hello.')]]));
  const response = await agent.ask('Who are you?');
  expect(response).toMatchObject({ answer: 'Hello.', turnNumber: 1, finishReason: 'stop', error: null });
  // All fields that `--json` prints.
  const { output: _, ...shape } = agentResponseSchema.shape;
  expect(Object.keys(response).sort()).toEqual(Object.keys(shape).sort());
  await agent.close();
});

test.each([
  [{ collektion: 'docs' }, 'Did you mean collection?'],
  [{ retreiver: async () => [] }, 'Did you mean retriever?'],
  [{ apiKey: 'k' }, 'Did you mean apiKeys?'],
  [{ apiKeys: { openia: 'k' } }, 'Did you mean openai?'],
  [{ openaiApiKey: 'k' }, 'Set OPENAI_API_KEY in the environment, or pass apiKeys: { openai }.'],
])('refuses the unknown option %o with the nearest known one', async (options, hint) => {
  await expect(createAgent(options as CreateAgentOptions)).rejects.toMatchObject({
    kind: 'invalid_input',
    hint,
  });
});

test('sends the key of an option to its service, and no key of the environment', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  vi.stubEnv('OPENAI_API_KEY', 'from-the-environment');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const { store, embedder } = await createSmallLibrary({ 'animals/Owls': 'An owl hunts at night.' });
  const agent = await createAgent({
    home: await createTemporaryDirectory(),
    ...{ store, embedder, baseUrl, model: 'm', apiKeys: { openai: 'from-the-option' } },
  });
  await expect(agent.ask('What is an owl?')).rejects.toMatchObject({ kind: 'auth_error' });
  expect(seen).toEqual(['Bearer from-the-option']);
  await agent.close();
});

const owls = async () => [
  {
    text: 'An owl hunts at night. Owls see well in the dark.',
    url: 'https://birds.test/owls',
    title: 'Owls',
  },
  'A robin sings in the morning.',
];

test('answers from the passages of a retriever function', async () => {
  const model = new ScriptedModel([
    [functionCall('search_docs', { query: 'owl', top_k: 3 }, { callId: 'c1' })],
    [assistantMessage('An owl hunts at night [1]. It flies to the moon [9].')],
  ]);
  const queries: unknown[] = [];
  const retriever: RetrieveFunction = async (query, { topK, filter }) => {
    queries.push([query, topK, filter]);
    return owls();
  };
  const agent = await createAgent({ home: await createTemporaryDirectory(), retriever, model });
  const response = await agent.ask('When do owls hunt?', { filter: { shelf: ['birds'] } });
  expect(queries).toEqual([['owl', 3, { shelf: ['birds'] }]]);
  expect(response).toMatchObject({
    model: 'ScriptedModel',
    grounded: true,
    citations: [
      { marker: '1', title: 'Owls', url: 'https://birds.test/owls', verdict: 'quoted' },
      { marker: '9' },
    ],
  });
  expect(response.answer).not.toContain('[9]');
  expect((await agent.search('owl')).chunks.map(({ url }) => url)).toEqual([
    'https://birds.test/owls',
    expect.stringMatching(/^passage-[\da-f]{8}$/),
  ]);
  await expect(agent.ingest('.')).rejects.toMatchObject({ kind: 'invalid_input' });
  await agent.close();
});

test('the offline model answers from a retriever function without loading an embedder', async () => {
  const home = await createTemporaryDirectory();
  const agent = await createAgent({
    home,
    modelDir: join(home, 'none'),
    retriever: owls,
  } as CreateAgentOptions);
  const { grounded, answer, model } = await agent.ask('When does an owl hunt?');
  expect({ grounded, model }).toEqual({ grounded: true, model: 'offline' });
  expect(answer).toContain('An owl hunts at night.');
  await agent.close();
});

test('throws configuration_error if a retriever does not return passages', async () => {
  const retriever = (async () => [{ title: 'no text' }]) as unknown as RetrieveFunction;
  const agent = await createAgent({ home: await createTemporaryDirectory(), retriever });
  await expect(agent.search('owl')).rejects.toMatchObject({ kind: 'configuration_error' });
  await agent.close();
});

test('offers tools of the caller beside the search, under every policy', async () => {
  const weather = tool({
    name: 'weather',
    description: 'The weather in a city.',
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `Rain in ${city}.`,
  });
  for (const policy of ['tool', 'never'] as const) {
    const model = new ScriptedModel([
      [functionCall('weather', { city: 'Bern' }, { callId: 'c1' })],
      [assistantMessage('It rains.')],
    ]);
    const options = { home: await createTemporaryDirectory(), retriever: owls, policy };
    const agent = await createAgent({ ...options, model, tools: [weather] });
    expect(await agent.ask('How is the weather?')).toMatchObject({ answer: 'It rains.', retrievalCount: 0 });
    expect(JSON.stringify(model.calls.at(-1)?.request.input)).toContain('Rain in Bern.');
    await agent.close();
  }
  const taken = { ...weather, name: 'search_docs' };
  const model = new ScriptedModel([]);
  await expect(createAgent({ retriever: owls, model, tools: [taken] })).rejects.toMatchObject({
    kind: 'invalid_input',
  });
});

test('returns an object of the output schema whose texts cite only retrieved sources', async () => {
  const output = z.object({
    summary: z.string(),
    facts: z.array(z.object({ text: z.string(), year: z.number() })),
  });
  const written = {
    summary: 'An owl hunts at night [1].',
    facts: [{ text: 'It flies to the moon [9].', year: 1 }],
  };
  const model = new ScriptedModel([
    [functionCall('search_docs', { query: 'owl' }, { callId: 'c1' })],
    [assistantMessage(JSON.stringify(written))],
    [assistantMessage('not an object')],
  ]);
  const home = await createTemporaryDirectory();
  const agent = await createAgent({ home, retriever: owls, model, output });
  const response = await agent.ask('When do owls hunt?');
  const summary: string | undefined = response.output?.summary;
  expect(summary).toBe('An owl hunts at night [1].');
  expect(response.output?.facts).toEqual([{ text: 'It flies to the moon.', year: 1 }]);
  expect(response.answer).toBe('An owl hunts at night [1].\n\nIt flies to the moon.');
  expect(response.citations).toMatchObject([{ marker: '1', verdict: 'quoted' }, { marker: '9' }]);
  expect(model.calls[0]?.request.outputType).toMatchObject({ type: 'json_schema' });
  await expect(agent.ask('And now?')).rejects.toMatchObject({ kind: 'api_error', recoverable: true });
  await agent.close();
  await expect(createAgent({ home, retriever: owls, output })).rejects.toMatchObject({
    kind: 'configuration_error',
  });
});

test('ingests documents into a new collection, searches it and answers from it', async () => {
  const home = await createTemporaryDirectory();
  const documents = await createTemporaryDirectory();
  await writeFile(join(documents, 'owls.md'), '# Owls\n\nAn owl hunts at night.\n');
  const agent = await createAgent({ home, collection: 'birds' });
  expect(await agent.ingest(documents)).toMatchObject({ added: 1, failed: [] });
  const { chunks } = await agent.search('When do owls hunt?', { topK: 1 });
  expect(chunks).toMatchObject([{ title: 'Owls', text: expect.stringContaining('hunts at night') }]);
  expect(await agent.ask('When does an owl hunt?')).toMatchObject({ model: 'offline', grounded: true });
  await expect(agent.search('owl', { filter: { module: ['fish'] } })).rejects.toMatchObject({
    kind: 'invalid_input',
  });
  await expect(agent.ask('owl?', { filter: { moduel: ['fish'] } })).rejects.toMatchObject({
    kind: 'invalid_input',
  });
  await agent.close();
});

/** A model that answers with a word at a time, and only as long as its signal is not aborted. */
function createSlowModel(): Model & { words: number } {
  return {
    words: 0,
    async getResponse() {
      throw new Error('not used');
    },
    async *getStreamedResponse({ signal }) {
      yield { type: 'response_started' };
      for (let word = 0; word < 2000; word += 1) {
        signal?.throwIfAborted();
        this.words += 1;
        yield { type: 'output_text_delta', delta: 'word ' };
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

test('break ends the turn, which is not stored', async () => {
  const model = createSlowModel();
  const agent = await createAgent({ home: await createTemporaryDirectory(), retriever: owls, model });
  const session = await agent.startSession();
  for await (const event of session.ask('Tell me a story.')) if (event.type === 'text_delta') break;
  const { words } = model;
  expect(words).toBeLessThan(100);
  expect(session.snapshot().turnCount).toBe(0);
  await expect(agent.resumeSession(session.id)).rejects.toMatchObject({ kind: 'invalid_input' });
  expect(model.words).toBe(words);
  await agent.close();
});

test('a timeout signal and close interrupt a turn; nothing can be asked after close', async () => {
  const agent = await createAgent({
    home: await createTemporaryDirectory(),
    retriever: owls,
    model: createSlowModel(),
  });
  const session = await agent.startSession();
  const signal = AbortSignal.timeout(50);
  await expect(agent.ask('Tell me a story.', { session, signal })).rejects.toMatchObject({
    kind: 'interrupted',
  });
  const running = agent.ask('Tell me a story.');
  const interrupted = expect(running).rejects.toMatchObject({ kind: 'interrupted' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await agent.close();
  await interrupted;
  const closed = { kind: 'invalid_input', message: 'The agent is closed.' };
  await expect(agent.ask('Still there?')).rejects.toMatchObject(closed);
  await expect(agent.ask('Still there?', { session })).rejects.toMatchObject(closed);
  await expect(agent.search('owl')).rejects.toMatchObject(closed);
  await agent.close();
});

test('two questions at once on a session are answered one after the other', async () => {
  const model = new ScriptedModel([[assistantMessage('First.')], [assistantMessage('Second.')]]);
  const agent = await createAgent({ home: await createTemporaryDirectory(), retriever: owls, model });
  const session = await agent.startSession();
  const answers = await Promise.all([agent.ask('One?', { session }), agent.ask('Two?', { session })]);
  expect(answers.map(({ answer, turnNumber }) => [answer, turnNumber])).toEqual([
    ['First.', 1],
    ['Second.', 2],
  ]);
  expect(JSON.stringify(model.calls[1]?.request.input)).toContain('First.');
  await agent.close();
});

test('throws configuration_error on a Node without SQLite', async () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValueOnce(undefined);
  await expect(createAgent()).rejects.toMatchObject({ kind: 'configuration_error' });
  vi.restoreAllMocks();
});

test('throws the error of the service with its wait', async () => {
  const refused = Object.assign(new Error('Slow down.'), {
    status: 429,
    headers: new Headers({ 'retry-after': '600' }),
  });
  const agent = await agentWith(new ScriptedModel([modelError(refused)]));
  const failure = await agent.ask('What is an owl?').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(AppError);
  expect(toErrorResponse(failure as AppError)).toEqual({
    errorType: 'rate_limit',
    message: 'The model service is receiving too many requests: Slow down.',
    userMessage: 'The service is receiving too many requests. Try again in 600 seconds.',
    retryAfter: 600,
    recoverable: true,
  });
  expect(failure).toMatchObject({
    name: 'AppError',
    kind: 'rate_limit',
    message: 'The model service is receiving too many requests: Slow down.',
    hint: 'Try again in 600 seconds.',
    retryAfter: 600,
    recoverable: true,
  });
  await agent.close();
});

test('names options, not flags or commands, in errors', async () => {
  const home = await createTemporaryDirectory();
  await expect(createAgent({ home, topK: 99 })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringMatching(/^topK \(option topK\) must be/),
    hint: undefined,
  });
  const catalog = createSqliteCatalog(join(home, 'collections'));
  await (await catalog.openOrCreate('gnus', { embedder: 'words', dimensions: 8 })).close();
  const ofEmpty = await createAgent({ home, collection: 'gnus' });
  await expect(ofEmpty.ask('What is a gnu?')).rejects.toMatchObject({
    kind: 'invalid_input',
    message: 'The collection "gnus" is empty.',
  });
  const ofMissing = await createAgent({ home, collection: 'nowhere' });
  await expect(ofMissing.search('gnu')).rejects.toMatchObject({
    kind: 'invalid_input',
    hint: 'Choose one of gnus. Create it by ingesting documents into it.',
  });
  await Promise.all([ofEmpty.close(), ofMissing.close()]);
  const refused = Object.assign(new Error('scripted does not support tools'), { status: 400 });
  const agent = await agentWith(new ScriptedModel([modelError(refused)]));
  await expect(agent.ask('What is an owl?')).rejects.toMatchObject({
    kind: 'configuration_error',
    hint: 'Use a model that can, or the policy always, which needs no tools.',
  });
  await agent.close();
});

test('answers the last question of a conversation that the caller stores', async () => {
  const agent = await agentWith(new ScriptedModel([[assistantMessage('At night.')]]));
  const events: string[] = [];
  await agent.answer({ question: 'When does it hunt?', history: [] }, ({ type }) => events.push(type));
  expect(events.at(-1)).toBe('turn_completed');
  await agent.close();
});

test('refuses a GGUF file as a model unless a server is named', async () => {
  const { store, embedder } = await createSmallLibrary({ 'animals/Owls': 'An owl hunts at night.' });
  const options = { home: await createTemporaryDirectory(), store, embedder, model: './tiny.gguf' };
  await expect(createAgent(options)).rejects.toMatchObject({
    kind: 'configuration_error',
    hint: expect.stringContaining('Ollama'),
  });
  await (await createAgent({ ...options, baseUrl: 'http://127.0.0.1:9/v1' })).close();
});
