import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createRetrievalContext,
  type RetrievalContext,
  showContext,
} from '../../src/domain/retrieval-context.ts';
import {
  failedToolResponse,
  repeatedToolResponse,
  retrievalToolResponseSchema,
  roundTo,
  toToolResponse,
} from '../../src/domain/retrieval-tool-response.ts';
import { chunk, NOW } from './arbitraries.ts';

const base = { query: 'topics', scoreThreshold: 0.3, queryTimeMs: 1234.5, retrievedAt: NOW };
const refOf = (_: unknown, index: number) => String(index + 1);
const respond = (context: RetrievalContext) =>
  toToolResponse(showContext(context, Number.POSITIVE_INFINITY), refOf);

test('results have text, url, title, headings, score and ref', () => {
  const context = createRetrievalContext({ ...base, chunks: [chunk({ score: 0.81249 })] });
  expect(respond(context)).toEqual({
    results: [
      {
        text: 'A node publishes messages on a topic.',
        url: 'https://docs.test/topics',
        title: 'Topics',
        headings: ['Topics', 'Publishing'],
        score: 0.812,
        ref: '1',
      },
    ],
    total: 1,
    query: 'topics',
    error: null,
    message: null,
    execution_time: 1,
  });
});

test('says how many results were left out', () => {
  const long = chunk({ text: 'A node publishes messages on a topic. '.repeat(30) });
  const context = createRetrievalContext({ ...base, chunks: [long, { ...long, chunkId: 'b' }] });
  const response = toToolResponse(showContext(context, 300), refOf);
  expect(retrievalToolResponseSchema.parse(response)).toMatchObject({
    total: 1,
    left_out: { reason: 'no_room', count: 1 },
    message: expect.stringContaining('left out'),
  });
  expect(respond(context)).not.toHaveProperty('left_out');
});

test('contains no local paths in results, near misses and filters', () => {
  const secret = chunk({ url: 'file:///home/ada/secret%20plans/topics.md' });
  const filter = { url: [secret.url] };
  const responses = [
    respond(createRetrievalContext({ ...base, chunks: [secret] })),
    respond(createRetrievalContext({ ...base, chunks: [], nearMiss: secret })),
    respond(createRetrievalContext({ ...base, chunks: [], filter, excludedByFilter: 1 })),
  ];
  expect(JSON.stringify(responses)).not.toMatch(/ada|secret/);
  expect(responses[0]?.results[0]?.url).toBe('topics.md');
});

test('rounds to the nearest, in range and stably', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(2, 3), (value, decimals) => {
      const result = roundTo(value, decimals);
      expect(Math.abs(result - value)).toBeLessThanOrEqual(0.5 * 10 ** -decimals + 1e-12);
      expect(result).toBeLessThanOrEqual(1);
      expect(roundTo(result, decimals)).toBe(result);
      expect(String(result).length).toBeLessThanOrEqual(decimals + 2);
    }),
  );
});

test('an empty result names the best near miss', () => {
  const nearMiss = chunk({ score: 0.2876 });
  const response = respond(createRetrievalContext({ ...base, chunks: [], nearMiss }));
  expect(response).toMatchObject({
    results: [],
    total: 0,
    error: null,
    empty: {
      reason: 'below_threshold',
      threshold: 0.3,
      near_miss: { title: 'Topics', url: 'https://docs.test/topics', score: 0.288 },
    },
  });
  expect(response.message).toContain('0.288');
});

test('an empty result names the filter that excluded hits', () => {
  const filter = { module: ['advanced'] };
  const context = createRetrievalContext({ ...base, chunks: [], filter, excludedByFilter: 3 });
  const response = respond(context);
  expect(response.empty).toEqual({ reason: 'filtered_out', filter, excluded: 3 });
  expect(response.message).toContain('module=advanced');
});

test('an empty result without any near miss says that nothing matches', () => {
  const response = respond(createRetrievalContext({ ...base, chunks: [] }));
  expect(response.empty).toEqual({ reason: 'no_match' });
});

test('a repeated query says that it adds nothing', () => {
  const response = repeatedToolResponse('topics');
  expect(response).toMatchObject({ total: 0, error: null, empty: { reason: 'repeated_query' } });
  expect(response.message).toContain('adds nothing');
});

test('a failed search has an error and no results', () => {
  const response = failedToolResponse('retrieval_failed', 'The store is busy.', { query: 'topics' });
  expect(retrievalToolResponseSchema.parse(response)).toMatchObject({
    error: 'retrieval_failed',
    message: 'The store is busy.',
    query: 'topics',
    results: [],
  });
});
