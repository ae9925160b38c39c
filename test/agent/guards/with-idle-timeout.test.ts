import type { Model } from '@openai/agents';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withIdleTimeout } from '../../../src/agent/guards/with-idle-timeout.ts';
import { askModel, modelAnswering, modelRequest } from '../../adapters/openai/ask-model.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new Promise<never>(() => {});

/** Sends an event after each of these waits, then nothing; ignores the signal. */
function speakingAfter(...waits: number[]): Model {
  return {
    getResponse: () => never,
    async *getStreamedResponse() {
      for (const wait of waits) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        yield { type: 'output_text_delta', delta: '.' };
      }
      await never;
    },
  };
}

test.each([true, false])('silence from the start is a recoverable error (streaming: %s)', async (stream) => {
  const failure = expect(askModel(withIdleTimeout(speakingAfter(), 60_000), stream)).rejects.toMatchObject({
    kind: 'api_error',
    message: 'The model service sent nothing for 60 seconds.',
    recoverable: true,
  });
  await vi.advanceTimersByTimeAsync(60_000);
  await failure;
});

test('every event restarts the timeout', async () => {
  let pieces = 0;
  const read = async () => {
    const model = withIdleTimeout(speakingAfter(50_000, 50_000, 50_000), 60_000);
    for await (const _ of model.getStreamedResponse(modelRequest())) pieces++;
  };
  const failure = expect(read()).rejects.toMatchObject({ message: expect.stringContaining('sent nothing') });
  await vi.advanceTimersByTimeAsync(209_999);
  expect(pieces).toBe(3);
  await vi.advanceTimersByTimeAsync(1);
  await failure;
});

test.each(['chat_completions', 'responses'] as const)(
  'comments delay the timeout (%s), but not endlessly',
  async (api) => {
    let sent = 0;
    const comments = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        sent += 1;
        controller.enqueue(new TextEncoder().encode(': keepalive\n\n'));
      },
    });
    const response = new Response(comments, { headers: { 'content-type': 'text/event-stream' } });
    const { model } = modelAnswering(api, response);
    const failure = expect(askModel(withIdleTimeout(model, 60_000), true)).rejects.toMatchObject({
      kind: 'api_error',
      recoverable: true,
    });
    await vi.advanceTimersByTimeAsync(400_000);
    await failure;
    expect(sent).toBeGreaterThan(20);
  },
);

test('the time between two reads does not count', async () => {
  let pieces = 0;
  const read = async () => {
    const model = withIdleTimeout(speakingAfter(10, 10), 60_000);
    for await (const _ of model.getStreamedResponse(modelRequest())) {
      pieces++;
      await new Promise((resolve) => setTimeout(resolve, 90_000));
    }
  };
  const failure = expect(read()).rejects.toMatchObject({ message: expect.stringContaining('sent nothing') });
  await vi.advanceTimersByTimeAsync(180_020 + 59_999);
  expect(pieces).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  await failure;
});

test.each([true, false])('the signal of the request ends the wait (streaming: %s)', async (stream) => {
  const controller = new AbortController();
  const request = { ...modelRequest(), signal: controller.signal };
  const failure = expect(
    askModel(withIdleTimeout(speakingAfter(), 60_000), stream, request),
  ).rejects.toMatchObject({
    name: 'AbortError',
  });
  controller.abort();
  await failure;
  expect(vi.getTimerCount()).toBe(0);
});

test.each([true, false])('an aborted signal ends the request at once (streaming: %s)', async (stream) => {
  const request = { ...modelRequest(), signal: AbortSignal.abort() };
  await expect(askModel(withIdleTimeout(speakingAfter(), 60_000), stream, request)).rejects.toMatchObject({
    name: 'AbortError',
  });
});
