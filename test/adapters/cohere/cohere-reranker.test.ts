import { inspect } from 'node:util';
import { HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type CohereRerankerOptions,
  createCohereReranker,
} from '../../../src/adapters/cohere/cohere-reranker.ts';
import { describeReranker } from '../../contracts/reranker.contract.ts';
import { createFakeCohere, failure, KEY, unknownModel } from './fake-cohere.ts';

const { fake, handlers } = createFakeCohere();
const server = setupServer(...handlers);
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => fake.reset());
afterAll(() => server.close());

const reranker = (options: Partial<CohereRerankerOptions> = {}) =>
  createCohereReranker({
    apiKey: KEY,
    timeoutMs: 60_000,
    sleep: async () => {},
    random: () => 0,
    ...options,
  });
const DOCUMENTS = ['about foxes', 'about robots', 'about robots that walk'];
const modelsAsked = () => fake.reranks.map(({ model }) => model);

describeReranker('the Cohere reranker', () => reranker());

test('sends query, documents and topN unchanged to the newest model', async () => {
  const cohere = await reranker();
  await cohere.rerank('robots that walk', DOCUMENTS, 2);
  const request = { model: 'rerank-v4.0', query: 'robots that walk', documents: DOCUMENTS, top_n: 2 };
  expect(fake.reranks).toEqual([request]);
  expect(fake.authorizations).toEqual([`Bearer ${KEY}`]);
  expect(cohere.id).toBe('cohere:rerank-v4.0');
});

test('uses the next model from then on if the service does not offer one', async () => {
  fake.intercept = ({ model }) => (model === 'rerank-v3.5' ? undefined : unknownModel(model));
  const cohere = await reranker();
  const calls = [cohere.rerank('robots', DOCUMENTS, 1), cohere.rerank('foxes', DOCUMENTS, 1)];
  expect((await Promise.all(calls)).map(([best]) => best?.index)).toEqual([1, 0]);
  expect(cohere.id).toBe('cohere:rerank-v3.5');
  fake.reranks.length = 0;
  await cohere.rerank('robots', DOCUMENTS, 1);
  expect(modelsAsked()).toEqual(['rerank-v3.5']);
});

test('does not replace a configured model', async () => {
  fake.intercept = ({ model }) => unknownModel(model);
  const cohere = await reranker({ model: 'rerank-v9' });
  await expect(cohere.rerank('robots', DOCUMENTS, 1)).rejects.toMatchObject({
    kind: 'configuration_error',
    message: expect.stringMatching(/^Cohere does not offer the model rerank-v9/),
  });
  expect(modelsAsked()).toEqual(['rerank-v9']);
});

test('retries once, and does not wait long', async () => {
  const answers = [failure(500, 'internal server error')];
  fake.intercept = () => answers.shift();
  const cohere = await reranker();
  expect(await cohere.rerank('robots', DOCUMENTS, 1)).toHaveLength(1);
  expect(fake.reranks).toHaveLength(2);
  fake.intercept = () => failure(429, 'slow down', { 'retry-after': '30' });
  await expect(cohere.rerank('robots', DOCUMENTS, 1)).rejects.toMatchObject({
    kind: 'rate_limit',
    retryAfter: 30,
  });
  expect(fake.reranks).toHaveLength(3);
});

const results = (...ranked: Array<[number, number]>) =>
  HttpResponse.json({
    id: 'r',
    results: ranked.map(([index, score]) => ({ index, relevance_score: score })),
  });
test.each([
  ['an unknown document', () => results([7, 0.9], [0, 0.1])],
  ['a document twice', () => results([1, 0.9], [1, 0.1])],
  ['too few', () => results([1, 0.9])],
  ['no results', () => HttpResponse.json({ id: 'r' })],
  ['no JSON', () => new HttpResponse('busy')],
])('rejects an answer with %s', async (_, answer) => {
  fake.intercept = answer;
  await expect((await reranker()).rerank('robots', DOCUMENTS, 2)).rejects.toMatchObject({
    kind: 'api_error',
    message: expect.stringMatching(/^The answer of Cohere cannot be used/),
  });
});

test('clamps scores to 0..1 and sorts by score', async () => {
  fake.intercept = () => results([0, -0.01], [2, 1.0000001]);
  expect(await (await reranker()).rerank('robots', DOCUMENTS, 2)).toEqual([
    { index: 2, score: 1 },
    { index: 0, score: 0 },
  ]);
});

test('reports a wrong key without showing it', async () => {
  fake.intercept = () => failure(401, `invalid api token ${KEY}`);
  const fault: unknown = await (await reranker()).rerank('robots', DOCUMENTS, 1).catch((error) => error);
  expect(fault).toMatchObject({ kind: 'auth_error', hint: expect.stringContaining('COHERE_API_KEY') });
  expect(inspect(fault, { depth: 10, showHidden: true })).not.toContain(KEY);
});
