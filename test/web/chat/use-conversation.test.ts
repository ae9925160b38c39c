import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchStreamItems } from '../../../src/web/chat/use-conversation.ts';

test('yields every item once, in order, in non-empty batches', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer()), async (items) => {
      async function* source() {
        yield* items;
      }
      const batches = await Array.fromAsync(batchStreamItems(source()));
      expect(batches.flat()).toEqual(items);
      expect(batches.every((batch) => batch.length > 0)).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test('yields the first item at once', async () => {
  const held = Promise.withResolvers<void>();
  async function* source() {
    yield 'first';
    await held.promise;
    yield 'second';
  }
  const batches = batchStreamItems(source());
  expect(await batches.next()).toEqual({ done: false, value: ['first'] });
  held.resolve();
  expect(await batches.next()).toEqual({ done: false, value: ['second'] });
  expect((await batches.next()).done).toBe(true);
});

test('throws an error after the items before it', async () => {
  async function* source() {
    yield 'first';
    throw new Error('gone');
  }
  const seen: string[] = [];
  await expect(async () => {
    for await (const batch of batchStreamItems(source())) seen.push(...batch);
  }).rejects.toThrow('gone');
  expect(seen).toEqual(['first']);
});
