import { execFile } from 'node:child_process';
import { inspect, promisify } from 'node:util';
import fc from 'fast-check';
import { HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type CohereEmbedderOptions,
  createCohereEmbedder,
  describeCohereEmbedder,
} from '../../../src/adapters/cohere/cohere-embedder.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import { describeEmbedder } from '../../contracts/embedder.contract.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import { findFreePort } from '../../support/free-port.ts';
import { createFakeCohere, failure, KEY, unknownModel } from './fake-cohere.ts';

const { fake, handlers } = createFakeCohere();
const server = setupServer(...handlers);
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => fake.reset());
afterAll(() => server.close());

const embedder = (options: Partial<CohereEmbedderOptions> = {}) =>
  createCohereEmbedder({
    apiKey: KEY,
    timeoutMs: 60_000,
    sleep: async () => {},
    random: () => 0,
    ...options,
  });
const texts = (count: number) => Array.from({ length: count }, (_, index) => `text number${index}`);

/** The error of embedding a text. */
async function errorOf(options: Partial<CohereEmbedderOptions> = {}): Promise<AppError> {
  const error: unknown = await (await embedder(options)).embedQuery('a question').catch((thrown) => thrown);
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
}

describeEmbedder('the Cohere embedder', () => embedder());

test('sends documents as search_document in batches of 96, and questions as search_query', async () => {
  const cohere = await embedder();
  await cohere.embedDocuments(texts(200));
  await cohere.embedQuery('what is a robot?');
  expect(fake.embeds.map((body) => body.texts.length).toSorted((a, b) => a - b)).toEqual([1, 8, 96, 96]);
  expect(fake.embeds.map((body) => body.input_type).toSorted()).toEqual([
    ...new Array(3).fill('search_document'),
    'search_query',
  ]);
  expect(new Set(fake.embeds.map((body) => body.model))).toEqual(new Set(['embed-v4.0']));
  expect(new Set(fake.authorizations)).toEqual(new Set([`Bearer ${KEY}`]));
  expect(cohere).toMatchObject({ id: 'cohere:embed-v4.0', dimensions: 1536, batchSize: 384 });
});

test('respects the concurrency limit and returns vectors in the order of the texts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 800 }), async (count) => {
      fake.reset();
      const cohere = await embedder();
      const asked = texts(count);
      const [vectors, query] = await Promise.all([
        cohere.embedDocuments(asked),
        cohere.embedQuery(`text number${count - 1}`),
      ]);
      expect(vectors).toHaveLength(count);
      expect(fake.peak).toBeLessThanOrEqual(4);
      if (count > 0) expect(vectors.at(-1)).toEqual(query);
    }),
    { numRuns: 8 },
  );
});

test('retries only the batch that failed, with exponential backoff', async () => {
  const waits: number[] = [];
  let failures = 0;
  fake.intercept = (body) =>
    'texts' in body && body.texts.includes('text number100') && failures++ < 2
      ? failure(503, 'upstream')
      : undefined;
  const cohere = await embedder({ sleep: async (ms) => void waits.push(ms) });
  const vectors = await cohere.embedDocuments(texts(250));
  expect(vectors).toHaveLength(250);
  expect(waits).toEqual([250, 500]);
  const firsts = fake.embeds.map((body) => body.texts[0]).toSorted();
  expect(firsts).toEqual(['text number0', 'text number192', ...new Array(3).fill('text number96')]);
});

test('honours and reports Retry-After, and waits longer for a rate limit without it', async () => {
  const answers = [failure(429, 'slow down', { 'retry-after': '7' }), failure(429, 'slow down')];
  const retries: Array<[number, number, string]> = [];
  fake.intercept = () => answers.shift();
  const cohere = await embedder({
    onRetry: ({ attempt, waitMs, error }) => retries.push([attempt, waitMs, error.kind]),
  });
  await cohere.embedQuery('a question');
  expect(retries).toEqual([
    [1, 7000, 'rate_limit'],
    [2, 4000, 'rate_limit'],
  ]);
});

test('a batch that keeps failing stops the others, and its error is thrown', async () => {
  fake.intercept = (body) =>
    'texts' in body && body.texts.includes('text number0')
      ? failure(500, 'internal server error')
      : undefined;
  const cohere = await embedder();
  await expect(cohere.embedDocuments(texts(96 * 40))).rejects.toMatchObject({
    kind: 'api_error',
    message: 'Cohere failed (500): internal server error.',
    recoverable: true,
  });
  await expect.poll(() => fake.underWay).toBe(0);
  expect(fake.embeds.length).toBeLessThan(40);
});

test.each([
  [401, 'invalid api token', 'auth_error', 1],
  [403, 'forbidden', 'auth_error', 1],
  [498, 'invalid token', 'auth_error', 1],
  [402, 'please add a payment method', 'rate_limit', 1],
  [404, "model 'embed-v4.0' not found, make sure the correct model ID was used", 'configuration_error', 1],
  [404, 'page not found', 'configuration_error', 1],
  [400, "invalid request: model 'x' is not supported by the embed API", 'configuration_error', 1],
  [400, 'invalid request: texts must not be empty', 'api_error', 1],
  [429, 'trial key limit', 'rate_limit', 3],
  [500, 'internal server error', 'api_error', 3],
  [503, 'unavailable', 'api_error', 3],
] as const)(
  'status %s "%s" is a %s after %s requests, with a hint',
  async (status, message, kind, requests) => {
    fake.intercept = () => failure(status, message);
    const fault = await errorOf();
    expect(fault.kind).toBe(kind);
    expect(fault.message).toContain('Cohere');
    expect(fault.message).toContain(message);
    expect(fault.hint ?? fault.kind).toMatch(/\S/);
    expect(fake.embeds).toHaveLength(requests);
  },
);

test('a long Retry-After is reported instead of waited for', async () => {
  fake.intercept = () => failure(429, 'monthly limit', { 'retry-after': '3600' });
  expect(await errorOf()).toMatchObject({ kind: 'rate_limit', retryAfter: 3600, recoverable: true });
  expect(fake.embeds).toHaveLength(1);
});

const form = (float: unknown) => HttpResponse.json({ id: 'e1', embeddings: { float } });
test.each([
  ['no JSON', () => new HttpResponse('{"id": "e1", "embeddi'), 'it is not valid JSON'],
  ['a web page', () => HttpResponse.html('<p>Hello</p>'), 'it is not valid JSON'],
  ['an unexpected form', () => HttpResponse.json({ embeddings: null }), 'unexpected form'],
  [
    'too many vectors',
    () => form([new Array(1536).fill(1), new Array(1536).fill(1)]),
    '2 embeddings for 1 texts',
  ],
  ['a wrong dimension', () => form([new Array(1024).fill(1)]), '1024 dimensions instead of 1536'],
  ['a zero vector', () => form([new Array(1536).fill(0)]), 'zero'],
])('rejects an answer with %s', async (_, answer, words) => {
  fake.intercept = answer;
  expect(await errorOf()).toMatchObject({ kind: 'api_error', message: expect.stringContaining(words) });
});

test('retries and reports connection errors and timeouts', async () => {
  fake.intercept = () => HttpResponse.error();
  expect((await errorOf()).message).toMatch(/^Cohere could not be reached/);
  await expect.poll(() => fake.underWay).toBe(0);
  expect(fake.embeds).toHaveLength(3);
  fake.intercept = () =>
    new HttpResponse(new ReadableStream(), { headers: { 'content-type': 'application/json' } });
  let retries = 0;
  const fault = await errorOf({ timeoutMs: 50, onRetry: () => retries++ });
  expect(fault).toMatchObject({ message: 'Cohere did not answer within 0.05 seconds.', recoverable: true });
  expect(retries).toBe(2);
});

test('errors contain no key, even if the service quotes it', async () => {
  for (const status of [400, 401, 404, 429, 500]) {
    fake.intercept = () =>
      failure(
        status,
        `invalid api token: ${KEY}, sent as "Bearer ${KEY}", also sk-other-key-123456 and ab****yz`,
      );
    const shown = inspect(await errorOf({ maxRetries: 0 }), { depth: 10, showHidden: true });
    expect(shown).not.toContain(KEY);
    expect(shown).not.toMatch(/sk-other|\*{3}/);
  }
});

test('reports a key with invalid characters without showing it', async () => {
  const fault: AppError = await embedder({ apiKey: `${KEY}\nrest` }).catch((error) => error);
  expect(fault).toMatchObject({ kind: 'auth_error', hint: expect.stringContaining('COHERE_API_KEY') });
  expect(inspect(fault)).not.toContain(KEY);
});

test('rejects an unknown model without a request and lists the known ones', async () => {
  await expect(embedder({ model: 'embed-v9' })).rejects.toMatchObject({
    kind: 'configuration_error',
    hint: expect.stringMatching(/embed-v4\.0.*embed-multilingual-light-v3\.0/),
  });
  expect(() => describeCohereEmbedder('constructor')).toThrow(AppError);
  expect(describeCohereEmbedder('embed-english-light-v3.0')).toMatchObject({
    dimensions: 384,
    maxTokens: 512,
  });
});

test('names a model that the account does not offer', async () => {
  fake.intercept = () => unknownModel('embed-v4.0');
  expect((await errorOf()).message).toMatch(/^Cohere does not offer the model embed-v4\.0 for this: /);
});

test('an abort ends the wait between two attempts', async () => {
  fake.intercept = () => failure(429, 'slow down', { 'retry-after': '60' });
  const controller = new AbortController();
  const cohere = await embedder({ sleep: undefined, onRetry: () => controller.abort(new Error('enough')) });
  await expect(cohere.embedQuery('a question', controller.signal)).rejects.toThrow('enough');
});

test('a failed request does not keep the process from ending', async () => {
  const port = await findFreePort();
  const script = `
    import { createCohereEmbedder } from './src/adapters/cohere/cohere-embedder.ts';
    const cohere = await createCohereEmbedder({
      apiKey: 'planted-key', baseUrl: 'http://127.0.0.1:${port}', timeoutMs: 600000, maxRetries: 0 });
    await cohere.embedQuery('q').catch((error) => console.log(error.message));`;
  const { stdout } = await endWithParent(
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 120_000,
    }),
  );
  expect(stdout).toBe('Cohere refused the connection (ECONNREFUSED).\n');
});
