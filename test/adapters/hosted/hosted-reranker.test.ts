import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { createHostedReranker } from '../../../src/adapters/hosted/hosted-reranker.ts';
import { createApp } from '../../../src/app/create-app.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { describeReranker } from '../../contracts/reranker.contract.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

interface RerankRequest {
  model: string;
  query: string;
  documents: string[];
}

interface ReceivedRequest {
  url: string | undefined;
  authorization: string | undefined;
  body: RerankRequest;
}

const rank = ({ query, documents }: RerankRequest) => {
  const words = new Set(query.toLowerCase().match(/\w+/g));
  return documents.map((text, index) => {
    const own = text.toLowerCase().match(/\w+/g) ?? [];
    return { index, relevance_score: own.filter((word) => words.has(word)).length / Math.max(1, own.length) };
  });
};

/** A local server that plays a rerank service. */
async function startRerankServer(answer: (body: RerankRequest) => { status?: number; json: unknown }) {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
    received.push({ url: request.url, authorization: request.headers.authorization, body });
    const { status = 200, json } = answer(body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  });
  server.unref();
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );
  return { baseUrl: `http://127.0.0.1:${port}/v1/`, received };
}

const open = (baseUrl: string, apiKey: string | undefined = 'k') =>
  createHostedReranker({ baseUrl, apiKey, model: 'm', timeoutMs: 10_000, sleep: async () => {} });

describeReranker('a rerank endpoint', async () =>
  open((await startRerankServer((body) => ({ json: { results: rank(body) } }))).baseUrl),
);

test.each([
  ['results', (list: unknown) => ({ model: 'm', results: list })],
  ['data', (list: unknown) => ({ object: 'list', data: list })],
  ['a list', (list: unknown) => list],
])('reads an answer with %s', async (_, wrap) => {
  const { baseUrl, received } = await startRerankServer((body) => ({ json: wrap(rank(body)) }));
  const ranked = await open(baseUrl).rerank('walking robots', ['foxes', 'walking robots', 'robots'], 2);
  expect(ranked.map(({ index }) => index)).toEqual([1, 2]);
  expect(received).toEqual([
    {
      url: '/v1/rerank',
      authorization: 'Bearer k',
      body: { model: 'm', query: 'walking robots', documents: ['foxes', 'walking robots', 'robots'] },
    },
  ]);
});

test.each([
  [{ json: { results: [{ index: 7, relevance_score: 1 }] } }, 'api_error'],
  [{ json: { results: [] } }, 'api_error'],
  [{ json: { scores: [1] } }, 'api_error'],
  [{ status: 401, json: { detail: 'Bad key secret-key' } }, 'auth_error'],
  [{ status: 429, json: {} }, 'rate_limit'],
])('throws for the answer %j', async (answer, kind) => {
  const { baseUrl } = await startRerankServer(() => answer);
  const failure = await open(baseUrl, 'secret-key')
    .rerank('x', ['a', 'b'], 1)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind });
  expect(String((failure as Error).message)).not.toContain('secret-key');
});

test('the address turns it on, and its key goes nowhere else', async () => {
  const { baseUrl, received } = await startRerankServer((body) => ({ json: { results: rank(body) } }));
  const home = await createTemporaryDirectory();
  const env = { RERANK_API_KEY: 'own-key', COHERE_API_KEY: 'other-key' };
  const flags = { home, rerankBaseUrl: baseUrl, rerankModel: 'm' };
  const app = createApp(loadConfig({ flags, env, cwd: home }));
  expect(app.config.rerank.by).toBe('endpoint');
  await (await app.reranker()).rerank('x', ['x'], 1);
  expect(received.map(({ authorization }) => authorization)).toEqual(['Bearer own-key']);
  const withoutModel = createApp(loadConfig({ flags: { home, rerankBaseUrl: baseUrl }, env, cwd: home }));
  await expect(withoutModel.reranker()).rejects.toMatchObject({ kind: 'configuration_error' });
  expect(loadConfig({ flags: { ...flags, rerank: 'words' }, env, cwd: home }).rerank.by).toBe('words');
  await app.close();
});
