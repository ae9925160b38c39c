import fc from 'fast-check';
import { expect, test } from 'vitest';
import { receiveInBatches } from '../../../src/web/chat/use-conversation.ts';

test('passes on every item once, in order, in non-empty batches', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer()), async (items) => {
      async function* source() {
        yield* items;
      }
      const batches: (readonly number[])[] = [];
      await receiveInBatches(source(), (batch) => void batches.push(batch));
      expect(batches.flat()).toEqual(items);
      expect(batches.every((batch) => batch.length > 0)).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test('passes on an item while the next one is awaited', async () => {
  const held = Promise.withResolvers<void>();
  async function* source() {
    yield 'first';
    await held.promise;
    yield 'second';
  }
  const seen: string[] = [];
  const receiving = receiveInBatches(source(), (batch) => void seen.push(...batch));
  await expect.poll(() => seen).toEqual(['first']);
  held.resolve();
  await receiving;
  expect(seen).toEqual(['first', 'second']);
});

test('throws an error after the items before it', async () => {
  async function* source() {
    yield 'first';
    throw new Error('gone');
  }
  const seen: string[] = [];
  await expect(receiveInBatches(source(), (batch) => void seen.push(...batch))).rejects.toThrow('gone');
  expect(seen).toEqual(['first']);
});
