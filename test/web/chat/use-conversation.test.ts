import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inBatches } from '../../../src/web/chat/use-conversation.ts';

test('everything comes out once and in order, and what came together comes together', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer()), async (items) => {
      async function* source() {
        yield* items;
      }
      const batches = await Array.fromAsync(inBatches(source()));
      expect(batches.flat()).toEqual(items);
      expect(batches.every((batch) => batch.length > 0)).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test('the first of it does not wait for the second', async () => {
  const held = Promise.withResolvers<void>();
  async function* source() {
    yield 'first';
    await held.promise;
    yield 'second';
  }
  const batches = inBatches(source());
  expect(await batches.next()).toEqual({ done: false, value: ['first'] });
  held.resolve();
  expect(await batches.next()).toEqual({ done: false, value: ['second'] });
  expect((await batches.next()).done).toBe(true);
});

test('a failure comes after what came before it', async () => {
  async function* source() {
    yield 'first';
    throw new Error('gone');
  }
  const seen: string[] = [];
  await expect(async () => {
    for await (const batch of inBatches(source())) seen.push(...batch);
  }).rejects.toThrow('gone');
  expect(seen).toEqual(['first']);
});
