import { expect, test } from 'vitest';
import { streamWorkEvents } from '../../src/async/event-queue.ts';

test('yields events in order, then throws the error of the work', async () => {
  const seen: number[] = [];
  const reading = (async () => {
    for await (const { number } of streamWorkEvents<{ number: number }>(async (emit) => {
      emit({ number: 1 });
      await Promise.resolve();
      emit({ number: 2 });
      throw new Error('enough');
    }))
      seen.push(number);
  })();
  await expect(reading).rejects.toThrow('enough');
  expect(seen).toEqual([1, 2]);
});

test('starts the work with the first read, and awaits it when reading stops', async () => {
  let state = 'not begun';
  const events = streamWorkEvents<object>(async (emit) => {
    state = 'begun';
    emit({});
    await new Promise((resolve) => setImmediate(resolve));
    state = 'ended';
  });
  expect(state).toBe('not begun');
  for await (const _ of events) break;
  expect(state).toBe('ended');
});
