import { expect, test } from 'vitest';
import { readTape } from '../../src/tape/read-tape.ts';
import { type ReissueOptions, reissueRequests } from '../../src/tape/reissue-requests.ts';
import type { TapeExchange } from '../../src/tape/tape-format.ts';
import { jsonExchange, writeTape } from './support/sample-tape.ts';

const CHAT = '/v1/chat/completions';
const answer = (content: string) => ({
  choices: [{ message: { content } }],
  usage: { prompt_tokens: 1000, completion_tokens: 100 },
});
const question = (id: number) => jsonExchange(id, { model: 'm', q: id }, answer(`Answer ${id}.`), CHAT);

async function reissue(exchanges: readonly TapeExchange[], options: Partial<ReissueOptions> = {}) {
  const tape = readTape(await writeTape(exchanges));
  const requests: { url: string; key: string | null; q: unknown }[] = [];
  try {
    const result = await reissueRequests({
      tapes: [tape],
      sample: 100,
      serviceOf: () => ({ url: 'https://today.test/chat', headers: { authorization: 'Bearer mine' } }),
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const { q } = (await request.json()) as { q: number };
        requests.push({ url: request.url, key: request.headers.get('authorization'), q });
        return Response.json(answer(q === 2 ? 'Something else.' : `Answer ${q}.`));
      },
      signal: new AbortController().signal,
      ...options,
    });
    return { result, requests };
  } finally {
  }
}

test('sends requests to the configured service and reports changed answers', async () => {
  const { result, requests } = await reissue([question(1), question(2)]);
  expect(requests).toEqual([1, 2].map((q) => ({ url: 'https://today.test/chat', key: 'Bearer mine', q })));
  expect(result.asked.map(({ exchange, changes }) => [exchange, changes.map(({ kind }) => kind)])).toEqual([
    [1, []],
    [2, ['answer']],
  ]);
});

test('picks an even and repeatable sample', async () => {
  const all = Array.from({ length: 10 }, (_, index) => question(index + 1));
  const { result } = await reissue(all, { sample: 3 });
  expect(result.asked.map(({ exchange }) => exchange)).toEqual([1, 5, 8]);
  expect(result.left).toEqual([{ reason: 'not in the sample', calls: 7 }]);
});

test('skips stores, redacted requests and unknown services', async () => {
  const { result, requests } = await reissue([
    jsonExchange(1, { limit: 3 }, {}, '/collections/book/points/query'),
    jsonExchange(2, { model: 'm', q: 'with [redacted] in it' }, answer('x'), CHAT),
  ]);
  expect(requests).toEqual([]);
  expect(result.left.map(({ reason }) => reason)).toEqual([
    'not a model, embedding or rerank request',
    'the request was redacted',
  ]);
  const refused = await reissue([question(1)], { serviceOf: () => 'it is not yours' });
  expect(refused.requests).toEqual([]);
  expect(refused.result.left).toEqual([{ reason: 'it is not yours', calls: 1 }]);
});

test('reports an unreachable service as a change of status', async () => {
  const { result } = await reissue([question(1)], {
    fetch: () => Promise.reject(new TypeError('fetch failed')),
  });
  expect(result.asked[0]?.changes).toMatchObject([{ kind: 'status' }]);
});
