import { expect, test } from 'vitest';
import { createConcurrencyGate, createKeyedLock } from '../../src/async/concurrency-gate.ts';

const ignore = () => {};
const never = new AbortController().signal;

test('limits concurrency and keeps the order', async () => {
  const gate = createConcurrencyGate({ concurrent: 2, waiting: 10 });
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

test('rejects at once if the queue is full, with an estimate of the wait', async () => {
  const gate = createConcurrencyGate({
    concurrent: 1,
    waiting: 1,
    whenFull: (seconds) => Object.assign(new Error('full'), { seconds }),
  });
  const release = await gate.enter(never, ignore);
  const ahead: number[] = [];
  const second = gate.enter(never, (count) => ahead.push(count));
  await expect(gate.enter(never, ignore)).rejects.toMatchObject({
    message: 'full',
    seconds: 2,
  });
  expect(ahead).toEqual([0]);
  release();
  (await second)();
  expect(gate.running).toBe(0);
});

test('an aborted wait leaves the queue', async () => {
  const gate = createConcurrencyGate({ concurrent: 1, waiting: 5 });
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

test('releasing twice frees one slot', async () => {
  const gate = createConcurrencyGate({ concurrent: 1, waiting: 5 });
  const release = await gate.enter(never, ignore);
  release();
  release();
  expect(gate.running).toBe(0);
});

test('runs tasks one after the other, also after a failure', async () => {
  const gate = createConcurrencyGate({ concurrent: 1 });
  const order: string[] = [];
  const task = (name: string, fails = false) =>
    gate.run(async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
      if (fails) throw new Error(name);
    });
  const all = await Promise.allSettled([task('a', true), task('b'), task('c')]);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('locks each key separately', async () => {
  const lock = createKeyedLock();
  const release = lock.tryTake('one');
  expect(release).toBeDefined();
  expect(lock.tryTake('one')).toBeUndefined();
  const waiting = lock.run('one', async () => 'after');
  expect(await lock.run('two', async () => 'meanwhile')).toBe('meanwhile');
  release?.();
  expect(await waiting).toBe('after');
  const again = lock.tryTake('one');
  release?.();
  expect(lock.tryTake('one')).toBeUndefined();
  again?.();
  expect(lock.tryTake('one')).toBeDefined();
});
