import fc from 'fast-check';
import { expect, test } from 'vitest';
import { areSameVectors, createMatchKey, VOLATILE_REQUEST_FIELDS } from '../../src/tape/match-key.ts';
import type { TapeJson } from '../../src/tape/tape-format.ts';

function keyOf(json: TapeJson, url = 'https://a.test/v1/x'): string {
  return createMatchKey({ method: 'POST', url, headers: {}, body: { json } }).exact;
}

function shuffled(value: TapeJson): TapeJson {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, shuffled(each)]),
  );
}

test('ignores the order of fields, but no value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.string(), (value, extra) => {
      const json = { value: value as TapeJson };
      expect(keyOf(shuffled(json))).toBe(keyOf(json));
      expect(keyOf({ ...json, [`extra ${extra}`]: extra })).not.toBe(keyOf(json));
    }),
  );
});

test('ignores the host, but not the path and the parameters', () => {
  expect(keyOf({}, 'http://127.0.0.1:9/v1/x')).toBe(keyOf({}));
  expect(keyOf({}, 'https://a.test/v1/y')).not.toBe(keyOf({}));
  expect(keyOf({}, 'https://a.test/v1/x?a=1&b=2')).toBe(keyOf({}, 'https://a.test/v1/x?b=2&a=1'));
  expect(keyOf({}, 'https://a.test/v1/x?a=1')).not.toBe(keyOf({}));
});

test('ignores volatile fields, also in JSON inside strings', () => {
  for (const field of VOLATILE_REQUEST_FIELDS) {
    expect(keyOf({ a: 1, [field]: 2 })).toBe(keyOf({ a: 1, [field]: 3 }));
    const inText = (value: number) => ({
      content: JSON.stringify({ results: [{ [field]: value }], total: 1 }),
    });
    expect(keyOf(inText(0.1))).toBe(keyOf(inText(0.2)));
  }
  expect(keyOf({ content: '{"total":1}' })).not.toBe(keyOf({ content: '{"total":2}' }));
});

test('ignores the directory of a document, but not its name and content', () => {
  const found = (url: string, text = 'x') => ({ content: JSON.stringify({ results: [{ url, text }] }) });
  const [here, there] = ['file:///home/a/docs/x%20y.md', 'file:///srv/docs/x%20y.md'];
  expect(keyOf(found(here))).toBe(keyOf(found(there)));
  expect(keyOf(found(here))).toBe(keyOf(found('docs/x%20y.md')));
  expect(keyOf(found(here))).not.toBe(keyOf(found('file:///home/a/docs/z.md')));
  expect(keyOf(found(here))).not.toBe(keyOf(found(here, 'y')));
  expect(keyOf(found('https://a.test/b/x'))).not.toBe(keyOf(found('https://a.test/c/x')));
  const filter = (uri: string) => ({ filter: { must: [{ key: 'uri', match: { any: [uri] } }] } });
  expect(keyOf(filter(here))).toBe(keyOf(filter(there)));
  const prompt = (url: string) => ({
    content: `Sources:\n<source ref="1" title="T" url="${url}">\nx</source>`,
  });
  expect(keyOf(prompt(here))).toBe(keyOf(prompt('docs/x%20y.md')));
  expect(keyOf(prompt(here))).not.toBe(keyOf(prompt('docs/z.md')));
});

test('matches embeddings that differ by rounding as nearly equal', () => {
  const vector = Array.from({ length: 384 }, (_, index) => Math.sin(index));
  const near = vector.map((value) => value + 1e-4 * Math.cos(value * 99));
  const other = vector.toReversed();
  const request = (values: number[]) =>
    createMatchKey({
      method: 'POST',
      url: 'https://q.test/query',
      headers: {},
      body: { json: { query: values, limit: 5 } },
    });
  const [a, b, c] = [request(vector), request(near), request(other)];
  expect(a.exact).not.toBe(b.exact);
  expect(a.nearly).toBe(b.nearly);
  expect(areSameVectors(a.vectors, b.vectors)).toBe(true);
  expect(areSameVectors(a.vectors, c.vectors)).toBe(false);
});

test('compares the method and ignores volatile parameters', () => {
  const key = (method: string, url = 'https://a.test/x') =>
    createMatchKey({ method, url, headers: {} }).exact;
  expect(key('GET')).not.toBe(key('POST'));
  for (const name of ['timestamp', 'nonce'])
    expect(key('GET', `https://a.test/x?${name}=1`)).toBe(key('GET'));
  expect(key('GET', 'https://a.test/x?a=1&nonce=2')).toBe(key('GET', 'https://a.test/x?a=1'));
});

test('ignores headers and distinguishes text from equal JSON', () => {
  const request = { method: 'POST', url: 'https://a.test/x', headers: {} };
  const json = { ...request, body: { json: { a: 1 } } };
  expect(createMatchKey({ ...json, headers: { accept: 'x' } }).exact).toBe(createMatchKey(json).exact);
  expect(createMatchKey({ ...request, body: { text: '{"a":1}' } }).exact).not.toBe(
    createMatchKey(json).exact,
  );
  expect(createMatchKey({ ...request, body: { text: 'a' } }).exact).not.toBe(
    createMatchKey({ ...request, body: { base64: 'a' } }).exact,
  );
  expect(createMatchKey(request).exact).not.toBe(createMatchKey(json).exact);
});

test('treats a list of sixteen or more numbers as an embedding', () => {
  const keyFor = (json: TapeJson) =>
    createMatchKey({ method: 'POST', url: 'https://a.test/x', headers: {}, body: { json } });
  const numbers = (length: number) => Array.from({ length }, (_, index) => index + 0.5);
  expect(keyFor({ v: numbers(15) })).toMatchObject({ nearly: null, vectors: [] });
  expect(keyFor({ v: numbers(16) })).toMatchObject({ nearly: expect.any(String), vectors: [numbers(16)] });
  expect(keyFor({ v: [...numbers(15), 'x'] }).nearly).toBeNull();
  expect(keyFor({ v: numbers(16) }).nearly).not.toBe(keyFor({ v: numbers(17) }).nearly);
  expect(keyFor({ v: numbers(16), limit: 1 }).nearly).not.toBe(keyFor({ v: numbers(16), limit: 2 }).nearly);
});

test('compares lists of embeddings by cosine', () => {
  expect(areSameVectors([[1, 0]], [[2, 0]])).toBe(true);
  expect(areSameVectors([[1, 0]], [[1, 0.04]])).toBe(true);
  expect(areSameVectors([[1, 0]], [[1, 0.05]])).toBe(false);
  expect(areSameVectors([[1, 0]], [[-1, 0]])).toBe(false);
  expect(areSameVectors([[1]], [[1], [1]])).toBe(false);
  expect(
    areSameVectors(
      [
        [1, 0],
        [1, 0],
      ],
      [
        [1, 0],
        [0, 1],
      ],
    ),
  ).toBe(false);
  expect(areSameVectors([[0, 0]], [[0, 0]])).toBe(true);
  expect(areSameVectors([[1, 0]], [[0, 0]])).toBe(false);
});

test('ignores the order of the terms in a sparse vector', () => {
  const sparse = (indices: number[], values: number[]) => keyOf({ query: { indices, values } });
  expect(sparse([7, 3], [0.7, 0.3])).toBe(sparse([3, 7], [0.3, 0.7]));
  expect(sparse([7, 3], [0.7, 0.3])).not.toBe(sparse([3, 7], [0.7, 0.3]));
});
