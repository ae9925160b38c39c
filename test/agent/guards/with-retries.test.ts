import type { Model, StreamEvent } from '@openai/agents';
import { Usage } from '@openai/agents';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { isTextDiscarded, withRetries } from '../../../src/agent/guards/with-retries.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import type { RetryAttempt } from '../../../src/faults/retry.ts';
import { askModel, modelRequest } from '../../adapters/openai/ask-model.ts';

const busy = (retryAfter?: number) =>
  new AppError('api_error', 'Busy.', { recoverable: true, ...(retryAfter !== undefined && { retryAfter }) });

/** A model that fails this often, in the stream after these events, and then answers. */
function failing(times: number, error: () => Error = busy, before: StreamEvent[] = []) {
  let calls = 0;
  const model: Model = {
    async getResponse() {
      if (calls++ < times) throw error();
      return { usage: new Usage(), output: [] };
    },
    async *getStreamedResponse() {
      if (calls++ < times) {
        yield* before;
        throw error();
      }
      yield { type: 'response_started' };
      yield {
        type: 'response_done',
        response: { id: 'r1', output: [], usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } },
      };
    },
  };
  return { model, calls: () => calls };
}

const sleep = async () => {};

test.each([true, false])('announces waits that grow, with jitter (streaming: %s)', async (stream) => {
  const { model } = failing(2);
  const retries: RetryAttempt[] = [];
  await askModel(
    withRetries(model, { sleep, random: () => 0, onRetry: (retry) => retries.push(retry) }),
    stream,
  );
  expect(retries.map(({ attempt, waitMs }) => [attempt, waitMs])).toEqual([
    [1, 250],
    [2, 500],
  ]);
});

test('a wait is never longer than the limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.double({ min: 0, max: 1, noNaN: true }), async (random) => {
      const waits: number[] = [];
      const model = withRetries(failing(8).model, {
        maxRetries: 8,
        random: () => random,
        sleep: async (ms) => void waits.push(ms),
      });
      await model.getResponse(modelRequest());
      for (const [index, wait] of waits.entries()) {
        expect(wait).toBeGreaterThanOrEqual(Math.min(8000, 500 * 2 ** index) / 2);
        expect(wait).toBeLessThanOrEqual(8000);
      }
    }),
  );
});

test('prefers the wait that the service asks for', async () => {
  const waits: number[] = [];
  await withRetries(failing(1, () => busy(100)).model, {
    sleep: async (ms) => void waits.push(ms),
  }).getResponse(modelRequest());
  expect(waits).toEqual([100_000]);
});

test('does not retry an error that is not recoverable', async () => {
  const { model, calls } = failing(1, () => new AppError('auth_error', 'No.'));
  await expect(withRetries(model, { sleep }).getResponse(modelRequest())).rejects.toMatchObject({
    kind: 'auth_error',
  });
  expect(calls()).toBe(1);
});

test('repeats a stream with one start event, and says that text of an earlier attempt is void', async () => {
  const early = failing(1, busy, [{ type: 'response_started' }]);
  const events: string[] = [];
  for await (const { type } of withRetries(early.model, { sleep }).getStreamedResponse(modelRequest()))
    events.push(type);
  expect(events).toEqual(['response_started', 'response_done']);

  const late = failing(1, busy, [{ type: 'output_text_delta', delta: 'Fo' }]);
  const retried = await Array.fromAsync(
    withRetries(late.model, { sleep }).getStreamedResponse(modelRequest()),
    (event) => (isTextDiscarded(event) ? 'discarded' : event.type),
  );
  expect(retried).toEqual(['output_text_delta', 'discarded', 'response_started', 'response_done']);

  const refused = failing(1, () => new AppError('auth_error', 'No.'), [
    { type: 'output_text_delta', delta: 'Fo' },
  ]);
  await expect(askModel(withRetries(refused.model, { sleep }), true)).rejects.toMatchObject({
    kind: 'auth_error',
  });
  expect(refused.calls()).toBe(1);
});

test.each([true, false])('does not call the model after an abort (streaming: %s)', async (stream) => {
  const { model, calls } = failing(0);
  const raised = { ...modelRequest(), signal: AbortSignal.abort() };
  await expect(askModel(withRetries(model), stream, raised)).rejects.toMatchObject({ kind: 'interrupted' });
  const own = withRetries(model, { signal: AbortSignal.abort() });
  await expect(askModel(own, stream)).rejects.toMatchObject({ kind: 'interrupted' });
  expect(calls()).toBe(0);
});

test('an abort interrupts the wait', async () => {
  const controller = new AbortController();
  const onRetry = vi.fn(() => controller.abort());
  const model = withRetries(failing(1, () => busy(100)).model, { onRetry, signal: controller.signal });
  await expect(model.getResponse(modelRequest())).rejects.toMatchObject({ kind: 'interrupted' });
  expect(onRetry).toHaveBeenCalledOnce();
});
