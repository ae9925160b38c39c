import { expect, test } from 'vitest';
import { createTurnGate } from '../../../src/serve/turns/turn-gate.ts';

const ignore = () => {};
const never = new AbortController().signal;

test('so many run at a time, the others wait their turn in order', async () => {
  const gate = createTurnGate({ concurrent: 2, waiting: 10 });
  const order: number[] = [];
  const releases: (() => void)[] = [];
  const entered = [0, 1, 2, 3, 4].map(async (number) => {
    releases.push(await gate.enter(never, ignore));
    order.push(number);
  });
  await Promise.all(entered.slice(0, 2));
  expect({ running: gate.running, waiting: gate.waiting, order }).toEqual({
    running: 2,
    waiting: 3,
    order: [0, 1],
  });
  for (let at = 0; at < 5; at += 1) {
    await entered[at];
    releases[at]?.();
  }
  expect(order).toEqual([0, 1, 2, 3, 4]);
  expect({ running: gate.running, waiting: gate.waiting }).toEqual({ running: 0, waiting: 0 });
});

test('a full queue is told at once, with when to come back', async () => {
  const gate = createTurnGate({ concurrent: 1, waiting: 1 });
  const release = await gate.enter(never, ignore);
  const ahead: number[] = [];
  const second = gate.enter(never, (count) => ahead.push(count));
  await expect(gate.enter(never, ignore)).rejects.toMatchObject({
    status: 429,
    details: { code: 'queue_full', retryAfter: expect.any(Number) },
  });
  expect(ahead).toEqual([0]);
  release();
  (await second)();
  expect(gate.running).toBe(0);
});

test('who gives up waiting leaves the queue', async () => {
  const gate = createTurnGate({ concurrent: 1, waiting: 5 });
  const release = await gate.enter(never, ignore);
  const controller = new AbortController();
  const waiting = gate.enter(controller.signal, ignore);
  const behind = gate.enter(never, ignore);
  controller.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  expect(gate.waiting).toBe(1);
  release();
  (await behind)();
  expect(gate.running).toBe(0);
});

test('a place is given back once, however often that is said', async () => {
  const gate = createTurnGate({ concurrent: 1, waiting: 5 });
  const release = await gate.enter(never, ignore);
  release();
  release();
  expect(gate.running).toBe(0);
});
