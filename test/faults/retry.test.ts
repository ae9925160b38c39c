import { expect, test } from 'vitest';
import { AppError } from '../../src/faults/app-error.ts';
import {
  formatRetryNotice,
  type RetryAttempt,
  type RetryOptions,
  retryOnError,
} from '../../src/faults/retry.ts';

const busy = (retryAfter?: number) => new AppError('api_error', 'Busy.', { recoverable: true, retryAfter });

/** The number of attempts and the announced retries if these errors precede a success. */
async function attempt(faults: unknown[], options: RetryOptions = {}) {
  const retries: RetryAttempt[] = [];
  let tries = 0;
  const outcome = await retryOnError(
    async () => {
      const fault = faults[tries++];
      if (fault !== undefined) throw fault;
      return 'done';
    },
    { sleep: async () => {}, random: () => 1, onRetry: (retry) => retries.push(retry), ...options },
  ).catch((error: unknown) => error);
  return { tries, outcome, waits: retries.map(({ waitMs }) => waitMs) };
}

test('waits double up to a limit, unless the service asks for a wait', async () => {
  expect(await attempt([busy(), busy(3), busy()], { longestBackoffMs: 1500, maxRetries: 3 })).toEqual({
    tries: 4,
    outcome: 'done',
    waits: [500, 3000, 1500],
  });
});

test('jitter takes up to half of a wait', async () => {
  expect((await attempt([busy()], { random: () => 0 })).waits).toEqual([250]);
});

test('throws the last error after all attempts', async () => {
  const last = busy();
  expect(await attempt([busy(), busy(), last], { maxRetries: 2 })).toMatchObject({ tries: 3, outcome: last });
});

test.each([
  ['lasts', new AppError('auth_error', 'No.')],
  ['is a defect', new TypeError('undefined')],
  ['asks to wait for too long', busy(121)],
])('throws what %s at once', async (_, fault) => {
  expect(await attempt([fault])).toEqual({ tries: 1, outcome: fault, waits: [] });
});

test('an abort ends the wait with its reason', async () => {
  const stop = new AbortController();
  const sleep = () => {
    stop.abort(new Error('stopped'));
    return Promise.reject(new Error('aborted'));
  };
  const { tries, outcome } = await attempt([busy(), busy()], { sleep, signal: stop.signal });
  expect({ tries, outcome }).toMatchObject({ tries: 1, outcome: { message: 'stopped' } });
  const never = await attempt([], { signal: AbortSignal.abort(new Error('before')) });
  expect(never).toMatchObject({ tries: 0, outcome: { message: 'before' } });
});

test('formats a notice with the error and the wait', () => {
  expect(formatRetryNotice({ attempt: 2, waitMs: 1001, error: busy() })).toBe(
    'Busy. Retrying in 2 s (retry 2).',
  );
  expect(formatRetryNotice({ attempt: 2, waitMs: 0, error: busy() })).toBe('Busy. Retrying now (retry 2).');
});
