import { inspect } from 'node:util';
import { HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createOpenAiEmbedder,
  describeOpenAiEmbedder,
  type OpenAiEmbedderOptions,
} from '../../../src/adapters/openai/openai-embedder.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import { describeEmbedder } from '../../contracts/embedder.contract.ts';
import { createFakeEmbeddings, failure, KEY, OLLAMA_URL, OPENAI_URL } from './fake-embeddings.ts';

const DIMENSIONS = 768;
const { fake, handlers } = createFakeEmbeddings(DIMENSIONS);
const server = setupServer(...handlers);
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => fake.reset());
afterAll(() => server.close());

const embedder = (options: Partial<OpenAiEmbedderOptions> = {}) =>
  createOpenAiEmbedder({
    baseUrl: OLLAMA_URL,
    model: 'some-model',
    timeoutMs: 60_000,
    sleep: async () => {},
    random: () => 0,
    ...options,
  });
const texts = (count: number) => Array.from({ length: count }, (_, index) => `text number${index}`);

/** The error of embedding a text. */
async function errorOf(options: Partial<OpenAiEmbedderOptions> = {}): Promise<AppError> {
  const asking = embedder({ dimensions: DIMENSIONS, ...options }).then((made) =>
    made.embedQuery('a question'),
  );
  const error: unknown = await asking.catch((thrown) => thrown);
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
}

describeEmbedder('an OpenAI-compatible embedder of an unknown model', () => embedder());
describeEmbedder('an OpenAI-compatible embedder of a model with prefixes', () =>
  embedder({ model: 'nomic-embed-text:latest' }),
);

test('sends no key to a local server and requests its dimensions once', async () => {
  const local = await embedder();
  expect(local).toMatchObject({
    id: 'openai:some-model@localhost:11434',
    dimensions: DIMENSIONS,
    batchSize: 256,
  });
  expect(fake.requests).toEqual([{ model: 'some-model', input: ['dimensions'], encoding_format: 'float' }]);
  expect(fake.authorizations).toEqual([null]);
});

test("knows the dimensions of OpenAI's models and can shorten them", async () => {
  const options = { baseUrl: OPENAI_URL, apiKey: KEY, model: 'text-embedding-3-small' };
  expect(describeOpenAiEmbedder(options)).toMatchObject({
    id: 'openai:text-embedding-3-small',
    dimensions: 1536,
  });
  const short = await embedder({ ...options, dimensions: 256 });
  expect(fake.requests).toEqual([]);
  expect(await short.embedQuery('a question')).toHaveLength(256);
  expect(fake.requests[0]).toMatchObject({ dimensions: 256 });
  expect(fake.authorizations).toEqual([`Bearer ${KEY}`]);
});

test('checks the dimensions of other models instead of shortening them', async () => {
  const fault = await errorOf({ dimensions: 1024 });
  expect(fake.requests).toEqual([{ model: 'some-model', input: ['a question'], encoding_format: 'float' }]);
  expect(fault).toMatchObject({
    kind: 'api_error',
    recoverable: false,
    message: expect.stringContaining('768 dimensions instead of 1024'),
  });
});

test('adds the prefixes of a model to questions and passages', async () => {
  const nomic = await embedder({ model: 'nomic-embed-text', dimensions: DIMENSIONS });
  await nomic.embedDocuments(['robots']);
  await nomic.embedQuery('robots');
  expect(fake.requests.map(({ input }) => input[0])).toEqual([
    'search_document: robots',
    'search_query: robots',
  ]);
});

test('sends batches of 64 within the concurrency limit and accepts rows in any order', async () => {
  fake.intercept = ({ input }) => {
    const data = input.map((text, index) => ({ index, embedding: [index + 1, Number(text.slice(11)) + 1] }));
    return HttpResponse.json({ data: data.reverse() });
  };
  const local = await embedder({ dimensions: 2 });
  const vectors = await local.embedDocuments(texts(300));
  expect(fake.requests.map(({ input }) => input.length).sort((a, b) => b - a)).toEqual([64, 64, 64, 64, 44]);
  expect(fake.peak).toBe(4);
  vectors.forEach(([first = 0, second = 0], index) => {
    expect(second / first).toBeCloseTo((index + 1) / ((index % 64) + 1), 3);
  });
});

test('keeps the order of rows without an index', async () => {
  fake.intercept = () => HttpResponse.json({ data: [{ embedding: [0, 3] }, { embedding: [4, 0] }] });
  const local = await embedder({ dimensions: 2 });
  expect(await local.embedDocuments(['a', 'b'])).toEqual([Float32Array.of(0, 1), Float32Array.of(1, 0)]);
});

test('retries only the batch that failed', async () => {
  let failures = 0;
  fake.intercept = ({ input }) =>
    input.includes('text number100') && failures++ < 2 ? failure(500, 'out of memory') : undefined;
  const local = await embedder({ dimensions: DIMENSIONS });
  expect(await local.embedDocuments(texts(150))).toHaveLength(150);
  expect(fake.requests.map(({ input }) => input[0]).toSorted()).toEqual([
    'text number0',
    'text number128',
    ...new Array(3).fill('text number64'),
  ]);
});

test.each([
  [401, 'Incorrect API key provided', 'auth_error', 1],
  [403, 'Country not supported', 'auth_error', 1],
  [403, 'Project does not have access to model_not_found', 'configuration_error', 1],
  [404, 'model "some-model" not found, try pulling it first', 'configuration_error', 1],
  [404, '404 page not found', 'configuration_error', 1],
  [400, 'The model does not support Embeddings API', 'configuration_error', 1],
  [429, 'You exceeded your current quota: insufficient_quota', 'rate_limit', 1],
  [429, 'Rate limit reached. Add a payment method at openai.com/account/billing', 'rate_limit', 3],
  [400, 'invalid input', 'api_error', 1],
  [502, 'bad gateway', 'api_error', 3],
] as const)('status %s "%s" is a %s after %s requests', async (status, message, kind, requests) => {
  fake.intercept = () => failure(status, message);
  const fault = await errorOf();
  expect(fault.kind).toBe(kind);
  expect(fault.message).toContain('at 127.0.0.1:11434');
  expect(fault.message).toContain(message);
  expect(fake.requests).toHaveLength(requests);
});

test.each([
  ['no JSON', () => new HttpResponse('{"data": [')],
  ['an error inside', () => HttpResponse.json({ error: 'model is loading' })],
  ['too few rows', () => HttpResponse.json({ data: [] })],
  ['a row that is not a list', () => HttpResponse.json({ data: [{ index: 0, embedding: 'AAAA' }] })],
])('rejects an answer with %s', async (_, answer) => {
  fake.intercept = answer;
  expect(await errorOf()).toMatchObject({
    kind: 'api_error',
    message: expect.stringMatching(/^The answer of the embedding service at .* cannot be used/),
  });
});

test('errors contain no key, even if the service quotes it', async () => {
  for (const status of [400, 401, 403, 404, 429, 500]) {
    fake.intercept = () =>
      failure(status, `Incorrect API key provided: ${KEY} (${KEY.slice(0, 8)}****ghij).`);
    const fault = await errorOf({ apiKey: KEY, maxRetries: 0 });
    const shown = inspect(fault, { depth: 10, showHidden: true });
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain('ghij');
  }
});

test.each(['http://user:planted-password@llm.test/v1', 'ftp://llm.test', 'llm.test/v1'])(
  'rejects the URL %s without a request and without showing it',
  async (baseUrl) => {
    const fault = await errorOf({ baseUrl });
    expect(fault.kind).toBe('configuration_error');
    expect(inspect(fault)).not.toContain('planted-password');
  },
);

test('reports an unreachable server, also when it requests the dimensions', async () => {
  fake.intercept = () => HttpResponse.error();
  expect(await errorOf({ dimensions: undefined })).toMatchObject({
    kind: 'api_error',
    recoverable: true,
    hint: expect.stringContaining('base URL'),
  });
  expect(fake.requests).toHaveLength(3);
});
