import { expect, test } from 'vitest';
import { diffTapes } from '../../src/tape/diff-tapes.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import type { TapeExchange, TapeJson } from '../../src/tape/tape-format.ts';
import { jsonExchange, sampleHeader, writeTape } from './support/sample-tape.ts';

const CHAT = '/v1/chat/completions';
const chat = (number: number, q: string, content: string, id = 'chatcmpl-1234567') =>
  jsonExchange(
    number,
    { model: 'm', q },
    { id, created: Math.random(), choices: [{ message: { content } }] },
    CHAT,
  );

interface Side {
  exchanges: TapeExchange[];
  topK?: number;
  answer?: string;
}

async function difference(...sides: [Side, Side]) {
  const [before, after] = await Promise.all(
    sides.map(async ({ exchanges, topK = 5, answer = 'a' }) => {
      const header = sampleHeader({ inputs: { settings: { topK } }, createdAt: new Date().toISOString() });
      const outputs: TapeJson = { turns: [{ question: 'q', model: 'm', answer }] };
      return readTape(await writeTape(exchanges, { header, outputs }));
    }),
  );
  if (before === undefined || after === undefined) throw new Error('Two tapes are compared.');
  return diffTapes(before, after);
}

test('tapes that differ only in ids and times are the same', async () => {
  const after = { exchanges: [{ ...chat(1, 'a', 'A.', 'chatcmpl-7654321'), durationMs: 99 }] };
  expect(await difference({ exchanges: [chat(1, 'a', 'A.')] }, after)).toMatchObject({ same: true });
});

test('lists changed answers, changed requests, and added and removed calls', async () => {
  const { same, exchanges } = await difference(
    { exchanges: [chat(1, 'a', 'A.'), chat(2, 'b', 'B.'), jsonExchange(3, {}, {}, '/gone')] },
    { exchanges: [chat(1, 'a', 'Aha.'), chat(2, 'bb', 'B.'), jsonExchange(3, {}, {}, '/come')] },
  );
  expect(same).toBe(false);
  expect(exchanges.map(({ kind, request, differences }) => [kind, request, differences])).toEqual([
    ['changed', `POST ${CHAT}`, [{ path: 'answer', before: 'A.', after: 'Aha.' }]],
    ['changed', `POST ${CHAT}`, [{ path: 'request.q', before: 'b', after: 'bb' }]],
    ['added', 'POST /come', []],
    ['removed', 'POST /gone', []],
  ]);
});

test('compares settings and outputs', async () => {
  const { run, outputs } = await difference({ exchanges: [] }, { exchanges: [], topK: 3, answer: 'another' });
  expect(run).toEqual([{ path: 'settings.topK', before: 5, after: 3 }]);
  expect(outputs).toEqual([{ path: 'turn 1.answer', before: 'a', after: 'another' }]);
});
