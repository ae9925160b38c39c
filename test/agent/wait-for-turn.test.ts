import { expect, test } from 'vitest';
import { waitForTurn } from '../../src/agent/wait-for-turn.ts';
import type { RunEvent } from '../../src/domain/run-event.ts';
import { AppError } from '../../src/faults/app-error.ts';
import { toErrorResponse } from '../../src/faults/error-response.ts';

async function* eventsOf(...events: RunEvent[]): AsyncGenerator<RunEvent> {
  yield* events;
}

const started: RunEvent = { type: 'phase', from: 'idle', to: 'generating' };

test('throws the error of a turn after its event was passed on', async () => {
  const failure = new AppError('rate_limit', 'Too many.', {
    hint: 'Wait.',
    retryAfter: 7,
    recoverable: false,
  });
  const seen: string[] = [];
  const turn = waitForTurn(
    eventsOf(started, { type: 'error', error: toErrorResponse(failure) }),
    ({ type }) => seen.push(type),
  );
  await expect(turn).rejects.toMatchObject({
    kind: 'rate_limit',
    message: 'Too many.',
    hint: 'Wait.',
    retryAfter: 7,
    recoverable: false,
  });
  expect(seen).toEqual(['phase', 'error']);
});

test('throws a recoverable error if the events end without an answer', async () => {
  await expect(waitForTurn(eventsOf(started))).rejects.toMatchObject({
    kind: 'api_error',
    message: 'The turn ended without an answer.',
    recoverable: true,
  });
});
