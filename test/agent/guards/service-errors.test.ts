import { inspect } from 'node:util';
import { Agent, type Model, Runner } from '@openai/agents';
import { expect, test, vi } from 'vitest';
import { createOpenAiModel } from '../../../src/adapters/openai/create-openai-model.ts';
import { toAppError } from '../../../src/agent/guards/model-errors.ts';
import { withIdleTimeout } from '../../../src/agent/guards/with-idle-timeout.ts';
import { withRetries } from '../../../src/agent/guards/with-retries.ts';
import { withUnusableAnswerErrors } from '../../../src/agent/guards/with-unusable-answer-errors.ts';
import type { RetryOptions } from '../../../src/faults/retry.ts';
import { askModel, modelRequest } from '../../adapters/openai/ask-model.ts';
import {
  type FaultyServer,
  formatStreamEvent,
  neverRespond,
  resetConnection,
  respondWithJson,
  respondWithStatus,
  startFaultyServer,
  startStream,
  streamAnswer,
} from '../../support/faulty-server.ts';
import { findFreePort } from '../../support/free-port.ts';

const KEY = 'sk-test-0123456789abcdef';
const IDLE_MS = 1000;

/** The model with the guards of the agent, without real waits. */
async function guarded({ baseUrl }: FaultyServer, options: RetryOptions = {}): Promise<Model> {
  const model = createOpenAiModel({
    model: 'm',
    baseUrl,
    api: 'chat_completions',
    apiKey: KEY,
    timeoutMs: 60_000,
  });
  return withRetries(withIdleTimeout(withUnusableAnswerErrors(model), IDLE_MS), {
    sleep: async () => {},
    context: { model: 'm', baseUrl, secrets: [KEY] },
    ...options,
  });
}

const whole = respondWithJson('{"choices":[{"message":{"content":"Foxes."},"finish_reason":"stop"}]}');
const half = startStream(['Half'], (response) => response.end());
const cut = startStream(['Half'], (response) => response.destroy());
const stalled = startStream(['Half'], () => {});
/** As Groq sends it. */
const failed = startStream(['Half'], (response) =>
  response.end(
    `event: error\n${formatStreamEvent({ error: { message: 'Tokens ran dry', status_code: 500 } })}`,
  ),
);

test.each([
  ['a reset', resetConnection],
  ['HTTP 500', respondWithStatus(500)],
  ['HTTP 503 with a web page', respondWithStatus(503, '<html>busy</html>')],
  ['HTTP 429', respondWithStatus(429)],
  ['silence', neverRespond],
  ['broken JSON', respondWithJson('{"choices": [')],
  ['an empty body', respondWithJson('')],
  ['an empty message', respondWithJson('{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}')],
])('retries after %s', async (_, fault) => {
  const server = await startFaultyServer(fault, whole);
  const onRetry = vi.fn();
  expect(await askModel(await guarded(server, { onRetry }), false)).toMatchObject({ text: 'Foxes.' });
  expect(onRetry).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ attempt: 1, error: expect.objectContaining({ recoverable: true }) }),
  );
});

test.each([
  ['a reset', resetConnection],
  ['HTTP 500', respondWithStatus(500)],
  ['silence', neverRespond],
  ['a stream without events', startStream([], (response) => response.end())],
  ['a stream that is silent from the start', startStream([], () => {})],
  [
    'an error event',
    startStream([], (response) => response.end(formatStreamEvent({ error: { message: 'busy', code: 503 } }))),
  ],
])('retries a stream after %s', async (_, fault) => {
  const server = await startFaultyServer(fault, streamAnswer('Foxes.'));
  expect(await askModel(await guarded(server), true)).toMatchObject({ text: 'Foxes.', streamed: 'Foxes.' });
  expect(server.requests()).toBe(2);
});

test.each([
  ['ends', half, /broke off in the middle/],
  ['is cut', cut, /closed the connection too early|broke off/],
  ['stalls', stalled, /sent nothing for 1 second/],
  ['has an error event', failed, /failed: Tokens ran dry/],
])('repeats a stream that %s after some text', async (_, fault, message) => {
  const server = await startFaultyServer(fault, streamAnswer('Foxes.'));
  const onRetry = vi.fn();
  expect(await askModel(await guarded(server, { onRetry }), true)).toMatchObject({
    text: 'Foxes.',
    streamed: 'Foxes.',
  });
  expect(onRetry).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({
      error: expect.objectContaining({
        kind: 'api_error',
        message: expect.stringMatching(message),
        recoverable: true,
      }),
    }),
  );
  expect(server.requests()).toBe(2);
});

test('does not time out while bytes arrive slowly', async () => {
  const slowly = startStream(['Fo'], (response) => {
    const pieces = ['xes', '.'].map((content) =>
      formatStreamEvent({ choices: [{ index: 0, delta: { content } }] }),
    );
    const bytes = [
      ': wait\n\n',
      ': wait\n\n',
      ...pieces,
      formatStreamEvent({ choices: [{ delta: {}, finish_reason: 'stop' }] }),
    ];
    const timer = setInterval(() => {
      const next = bytes.shift();
      if (next === undefined) clearInterval(timer);
      else if (bytes.length === 0) response.end(next);
      else response.write(next);
    }, IDLE_MS / 4);
  });
  const server = await startFaultyServer(slowly);
  expect(await askModel(await guarded(server), true)).toMatchObject({ text: 'Foxes.' });
});

test('makes three requests, then reports the error', async () => {
  const server = await startFaultyServer(respondWithStatus(500));
  await expect(askModel(await guarded(server), false)).rejects.toMatchObject({ kind: 'api_error' });
  expect(server.requests()).toBe(3);
});

test.each([
  ['in seconds', () => '90', 90_000],
  ['as a date', () => new Date(Date.now() + 60_000).toUTCString(), 60_000],
])('waits as long as Retry-After %s says', async (_, header, expected) => {
  const server = await startFaultyServer(
    respondWithStatus(429, undefined, { 'retry-after': header() }),
    whole,
  );
  const waits: number[] = [];
  await askModel(await guarded(server, { sleep: async (ms) => void waits.push(ms) }), false);
  expect(waits).toHaveLength(1);
  // A date has whole seconds, and some time has passed since.
  expect(Math.abs((waits[0] ?? 0) - expected)).toBeLessThanOrEqual(30_000);
});

test('does not wait for more than two minutes', async () => {
  const server = await startFaultyServer(respondWithStatus(429, undefined, { 'retry-after': '300' }));
  await expect(askModel(await guarded(server), false)).rejects.toMatchObject({
    kind: 'rate_limit',
    retryAfter: 300,
  });
  expect(server.requests()).toBe(1);
});

test.each([
  [401, '{"error":{"message":"Incorrect API key provided: sk-test-*****cdef."}}', 'auth_error'],
  [403, '{"error":{"message":"no"}}', 'auth_error'],
  [404, '{"error":{"message":"The model `m` does not exist"}}', 'configuration_error'],
  [400, '{"error":{"message":"too long","code":"context_length_exceeded"}}', 'context_overflow'],
  [429, '{"error":{"message":"No money","code":"insufficient_quota"}}', 'rate_limit'],
])('does not retry HTTP %s', async (status, body, kind) => {
  const server = await startFaultyServer(respondWithStatus(status, body));
  await expect(askModel(await guarded(server), true)).rejects.toMatchObject({ kind, recoverable: false });
  expect(server.requests()).toBe(1);
});

test('names a server that cannot be reached', async () => {
  const port = await findFreePort();
  const server = { baseUrl: `http://127.0.0.1:${port}/v1`, requests: () => 0 };
  await expect(askModel(await guarded(server, { maxRetries: 0 }), false)).rejects.toMatchObject({
    message: `The model service at 127.0.0.1:${port} refused the connection (ECONNREFUSED).`,
  });
});

test.each([true, false])(
  'abort during an answer or a wait is an interruption (streaming: %s)',
  async (stream) => {
    for (const server of [
      await startFaultyServer(stream ? stalled : neverRespond),
      await startFaultyServer(respondWithStatus(500)),
    ]) {
      const controller = new AbortController();
      const model = await guarded(server, {
        sleep: (_, signal) =>
          new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      });
      setTimeout(() => controller.abort(), 20);
      const request = { ...modelRequest(), signal: controller.signal };
      await expect(askModel(model, stream, request)).rejects.toMatchObject({ kind: 'interrupted' });
    }
  },
);

test('removes a key that the service echoes', async () => {
  const server = await startFaultyServer(
    respondWithStatus(500, JSON.stringify({ error: { message: `bad key ${KEY}` } })),
  );
  const error = await askModel(await guarded(server, { maxRetries: 0 }), false).catch(
    (thrown: unknown) => thrown,
  );
  expect(inspect(error, { depth: 10 })).not.toContain(KEY);
  expect(error).toMatchObject({ message: expect.stringContaining('bad key [redacted]') });
});

test('the SDK loop passes errors on', async () => {
  const server = await startFaultyServer(respondWithStatus(401));
  const agent = new Agent({ name: 'A', model: await guarded(server) });
  const runner = new Runner({ tracingDisabled: true });
  const error = await runner.run(agent, 'hi').catch((thrown: unknown) => thrown);
  expect(toAppError(error)).toMatchObject({ kind: 'auth_error' });
  const streamed = await runner.run(agent, 'hi', { stream: true });
  await expect(streamed.completed).rejects.toMatchObject({ kind: 'auth_error' });
});
