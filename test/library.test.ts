import { join } from 'node:path';
import { assistantMessage, modelError, ScriptedModel } from '@openai/agents/testing';
import { expect, test, vi } from 'vitest';
import { createMemorySessionStore } from '../src/adapters/memory/memory-session-store.ts';
import { createSqliteCatalog } from '../src/adapters/sqlite/sqlite-catalog.ts';
import { agentResponseSchema } from '../src/domain/agent-response.ts';
import { AppError, createAgent, toErrorResponse } from '../src/index.ts';
import { createSmallLibrary } from './support/small-library.ts';
import { createTemporaryDirectory } from './support/temporary-directory.ts';

/** The library's agent on a given store and model. */
async function agentWith(chatModel: ScriptedModel) {
  const { store, embedder } = await createSmallLibrary({ 'animals/Owls': 'An owl hunts at night.' });
  const home = await createTemporaryDirectory();
  const sessions = createMemorySessionStore();
  return createAgent({ home, store, embedder, sessions, chatModel, model: 'scripted' });
}

test('asks a question and returns the response', async () => {
  const agent = await agentWith(new ScriptedModel([[assistantMessage('Hello.')]]));
  const response = await agent.ask('Who are you?');
  expect(response).toMatchObject({ answer: 'Hello.', turnNumber: 1, finishReason: 'stop', error: null });
  // All fields that `--json` prints.
  expect(Object.keys(response).sort()).toEqual(Object.keys(agentResponseSchema.shape).sort());
  await agent.close();
});

test('throws invalid_input for an unknown option', async () => {
  const misspelt = { collektion: 'docs' } as Parameters<typeof createAgent>[0];
  await expect(createAgent(misspelt)).rejects.toMatchObject({ kind: 'invalid_input' });
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
    message: 'The model service at api.openai.com is receiving too many requests: Slow down.',
    userMessage: 'The service is receiving too many requests. Try again in 600 seconds.',
    retryAfter: 600,
    recoverable: true,
  });
  expect(failure).toMatchObject({
    name: 'AppError',
    kind: 'rate_limit',
    message: 'The model service at api.openai.com is receiving too many requests: Slow down.',
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
  await expect(createAgent({ home, collection: 'gnus' })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: 'The collection "gnus" is empty.',
  });
  await expect(createAgent({ home, collection: 'nowhere' })).rejects.toMatchObject({
    kind: 'invalid_input',
    hint: 'Create it by ingesting documents into it.',
  });
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
