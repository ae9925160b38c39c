import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRetrievalContext } from '../../src/domain/retrieval-context.ts';
import {
  failedToolResponse,
  repeatedToolResponse,
  retrievalToolResponseSchema,
  toToolResponse,
} from '../../src/domain/retrieval-tool-response.ts';
import { rounded } from '../../src/domain/rounded.ts';
import { chunk, NOW } from './arbitraries.ts';

const base = { query: 'topics', scoreThreshold: 0.3, queryTimeMs: 1234.5, retrievedAt: NOW };
const refOf = (_: unknown, index: number) => String(index + 1);

test('the model sees results with text, url, title, score and ref', () => {
  const context = createRetrievalContext({ ...base, chunks: [chunk({ score: 0.81249 })] });
  expect(toToolResponse(context, 'search_docs', refOf)).toEqual({
    results: [
      {
        text: 'A node publishes messages on a topic.',
        url: 'https://docs.test/topics',
        title: 'Topics',
        score: 0.812,
        ref: '1',
      },
    ],
    total: 1,
    query: 'topics',
    error: null,
    message: null,
    execution_time: 1.23,
  });
});

test('search_docs cuts texts at 500 characters without splitting one, retrieve_context never does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 450, maxLength: 600 }), (text) => {
      const context = createRetrievalContext({ ...base, chunks: [chunk({ text })] });
      const cut = toToolResponse(context, 'search_docs', refOf).results[0]?.text ?? '';
      expect(cut.length).toBeLessThanOrEqual(500);
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, 499));
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
      expect(toToolResponse(context, 'retrieve_context', refOf).results[0]?.text).toBe(text);
    }),
  );
  const emoji = createRetrievalContext({ ...base, chunks: [chunk({ text: `${'a'.repeat(499)}👍` })] });
  expect(toToolResponse(emoji, 'search_docs', refOf).results[0]?.text).toBe('a'.repeat(499));
});

test('rounding is to the nearest, stays in range and is stable', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(2, 3), (value, decimals) => {
      const result = rounded(value, decimals);
      expect(Math.abs(result - value)).toBeLessThanOrEqual(0.5 * 10 ** -decimals + 1e-12);
      expect(result).toBeLessThanOrEqual(1);
      expect(rounded(result, decimals)).toBe(result);
      expect(String(result).length).toBeLessThanOrEqual(decimals + 2);
    }),
  );
});

test('an empty result names the best near miss', () => {
  const nearMiss = chunk({ score: 0.2876 });
  const response = toToolResponse(
    createRetrievalContext({ ...base, chunks: [], nearMiss }),
    'search_docs',
    refOf,
  );
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
  const response = toToolResponse(context, 'search_docs', refOf);
  expect(response.empty).toEqual({ reason: 'filtered_out', filter, excluded: 3 });
  expect(response.message).toContain('module=advanced');
});

test('an empty result without any near miss says that nothing matches', () => {
  const response = toToolResponse(createRetrievalContext({ ...base, chunks: [] }), 'search_docs', refOf);
  expect(response.empty).toEqual({ reason: 'no_match' });
});

test('a repeated query says that it adds nothing', () => {
  const response = repeatedToolResponse('topics');
  expect(response).toMatchObject({ total: 0, error: null, empty: { reason: 'repeated_query' } });
  expect(response.message).toContain('adds nothing');
});

test('a failed search has an error and no results', () => {
  const response = failedToolResponse('topics', 'The store is busy.', 15);
  expect(retrievalToolResponseSchema.parse(response)).toMatchObject({
    error: 'The store is busy.',
    results: [],
  });
  const [result] = toToolResponse(
    createRetrievalContext({ ...base, chunks: [chunk()] }),
    'search_docs',
    refOf,
  ).results;
  expect(retrievalToolResponseSchema.safeParse({ ...response, results: [result] }).success).toBe(false);
});

test('the total is the number of results unless the search failed', () => {
  const response = repeatedToolResponse('topics');
  expect(retrievalToolResponseSchema.safeParse({ ...response, total: 1 }).success).toBe(false);
  expect(retrievalToolResponseSchema.safeParse({ ...response, total: 1, error: 'lost' }).success).toBe(true);
});
