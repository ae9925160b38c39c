import { expect, test } from 'vitest';
import { createRedactor } from '../../src/faults/redactor.ts';
import { createExchangeFinder } from '../../src/tape/exchange-finder.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import type { TapeJson } from '../../src/tape/tape-format.ts';
import { jsonExchange, writeTape } from './support/sample-tape.ts';

const request = (question: TapeJson, path?: string) => jsonExchange(1, question, {}, path).request;
const answerOf = (exchange: ReturnType<ReturnType<typeof createExchangeFinder>['find']>) => {
  const body = exchange?.response?.body;
  return body !== undefined && 'json' in body ? body.json : null;
};

test('equal requests get their answers in recorded order, then the last one again', async () => {
  const tape = readTape(
    await writeTape([
      jsonExchange(1, { q: 1 }, 'first'),
      jsonExchange(2, { q: 1 }, 'second'),
      jsonExchange(3, { q: 2 }, 'other'),
    ]),
  );
  const finder = createExchangeFinder(tape, createRedactor());
  const answers = Array.from({ length: 4 }, () => answerOf(finder.find(request({ q: 1 }))));
  expect(answers).toEqual(['first', 'second', 'second', 'second']);
  expect(finder.counts()).toEqual({ used: 2, repeated: 2, missed: 0 });
  expect(finder.find(request({ q: 3 }))).toBeNull();
  expect(finder.miss(request({ q: 3 })).error).toMatchObject({ kind: 'replay_drift' });
  expect(finder.counts()).toEqual({ used: 2, repeated: 2, missed: 1 });
});

test('finds a request with a secret by its redacted form', async () => {
  const redactor = createRedactor({ secrets: ['own-secret'] });
  const path = await writeTape([jsonExchange(1, { q: 'about [redacted]' }, 'found')]);
  const finder = createExchangeFinder(readTape(path), redactor);
  expect(answerOf(finder.find(request({ q: 'about own-secret' })))).toBe('found');
});

test('finds embeddings that differ by rounding, each once and then the last one again', async () => {
  const vector = Array.from({ length: 32 }, (_, index) => Math.sin(index));
  const near = (by: number) => vector.map((value, index) => value + by * Math.cos(index));
  const far = vector.toReversed();
  const tape = readTape(
    await writeTape([
      jsonExchange(1, { v: near(1e-4) }, 'first'),
      jsonExchange(2, { v: near(2e-4) }, 'second'),
      jsonExchange(3, { v: far }, 'far'),
    ]),
  );
  const finder = createExchangeFinder(tape, createRedactor());
  const answers = Array.from({ length: 3 }, () => answerOf(finder.find(request({ v: vector }))));
  expect(answers).toEqual(['first', 'second', 'second']);
  expect(finder.counts()).toEqual({ used: 2, repeated: 1, missed: 0 });
  expect(finder.find(request({ v: vector.map((value) => -value) }))).toBeNull();
});
