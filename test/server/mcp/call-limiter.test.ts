import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCallLimiter } from '../../../src/server/mcp/call-limiter.ts';

test('refuses calls over the limit until another one ends', async () => {
  const tracker = createCallLimiter(2);
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  const one = tracker.track(() => first.promise);
  const two = tracker.track(() => second.promise);
  await expect(tracker.track(async () => 'three')).rejects.toMatchObject({
    kind: 'rate_limit',
    retryAfter: 1,
  });
  second.reject(new Error('no'));
  await expect(two).rejects.toThrow('no');
  await expect(tracker.track(async () => 'three')).resolves.toBe('three');
  first.resolve('one');
  await expect(one).resolves.toBe('one');
});

test('waits for running calls and refuses new ones while draining', async () => {
  const tracker = createCallLimiter(2);
  const running = Promise.withResolvers<string>();
  const order: string[] = [];
  const call = tracker.track(() => running.promise).then(() => order.push('call'));
  const drained = tracker.drain(60_000).then(() => order.push('drained'));
  await nextRound();
  await expect(tracker.track(async () => 'late')).rejects.toMatchObject({ kind: 'interrupted' });
  running.resolve('done');
  await Promise.all([call, drained]);
  expect(order).toEqual(['call', 'drained']);
});

test('limits the time of draining', async () => {
  const tracker = createCallLimiter(1);
  void tracker.track(() => new Promise(() => {}));
  await expect(tracker.drain(5)).resolves.toBeUndefined();
});
