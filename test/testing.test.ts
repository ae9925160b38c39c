import { useTape } from 'citeloop/testing';
import { afterAll, expect, test } from 'vitest';
import { asked, post, writeTape } from './tape/support/sample-tape.ts';

const native = globalThis.fetch;

test('one line answers every request from a tape until the test is over', async () => {
  const tape = await useTape(await writeTape([asked(1, { q: 'a' }, { a: 1 })]));
  expect(await (await post({ q: 'a' })).json()).toEqual({ a: 1 });
  expect(tape.header.origin).toBe('recorded');
  expect(tape.counts()).toEqual({ used: 1, repeated: 0, missed: 0 });
});

test('after the test the network is there again', () => {
  expect(globalThis.fetch).toBe(native);
});

test('a miss that the code under test has swallowed is thrown at the end', async () => {
  const tape = await useTape(await writeTape([asked(1, { q: 'a' }, { a: 1 })]));
  await post({ q: 'b' }).catch(() => 'swallowed');
  expect(tape.misses()).toHaveLength(1);
  await expect(tape.stop()).rejects.toMatchObject({ kind: 'replay_drift' });
});

test('its runtime gives the same ids and time in every replay', async () => {
  const path = await writeTape([]);
  const take = async () => {
    await using tape = await useTape(path);
    const { runtime } = tape;
    return [runtime.newId(), runtime.newId(), runtime.now().toISOString(), runtime.elapsedMs()];
  };
  const first = await take();
  expect(await take()).toEqual(first);
  expect(first[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(first[0]).not.toBe(first[1]);
});

afterAll(() => expect(globalThis.fetch).toBe(native));
