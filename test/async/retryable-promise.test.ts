import { expect, test } from 'vitest';
import { createRetryablePromise } from '../../src/async/retryable-promise.ts';

test('opens once, with the arguments of the first call', async () => {
  const opened: string[] = [];
  const thing = createRetryablePromise(async (how: string) => opened.push(how));
  expect([thing.inUse, await thing.current()]).toEqual([false, undefined]);
  expect(await Promise.all([thing.get('wide'), thing.get('ajar')])).toEqual([1, 1]);
  expect(opened).toEqual(['wide']);
  expect([thing.inUse, await thing.current()]).toEqual([true, 1]);
});

test('rejects waiting callers after a failure, and tries again on the next call', async () => {
  let attempts = 0;
  const thing = createRetryablePromise(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('away');
    return 'back';
  });
  const first = await Promise.allSettled([thing.get(), thing.get()]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(thing.inUse).toBe(false);
  expect(await thing.get()).toBe('back');
  expect(attempts).toBe(2);
});
