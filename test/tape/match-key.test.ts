import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchKey, sameVectors } from '../../src/tape/match-key.ts';
import type { TapeJson } from '../../src/tape/tape-format.ts';
import { VOLATILE_FIELDS } from '../../src/tape/volatile-fields.ts';

function keyOf(json: TapeJson, url = 'https://a.test/v1/x'): string {
  return matchKey({ method: 'POST', url, headers: {}, body: { json } }).exact;
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

test('the order of fields does not matter, and every value does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.string(), (value, extra) => {
      const json = { value: value as TapeJson };
      expect(keyOf(shuffled(json))).toBe(keyOf(json));
      expect(keyOf({ ...json, [`extra ${extra}`]: extra })).not.toBe(keyOf(json));
    }),
  );
});

test('the host does not matter, but the path and the parameters do', () => {
  expect(keyOf({}, 'http://127.0.0.1:9/v1/x')).toBe(keyOf({}));
  expect(keyOf({}, 'https://a.test/v1/y')).not.toBe(keyOf({}));
  expect(keyOf({}, 'https://a.test/v1/x?a=1&b=2')).toBe(keyOf({}, 'https://a.test/v1/x?b=2&a=1'));
  expect(keyOf({}, 'https://a.test/v1/x?a=1')).not.toBe(keyOf({}));
});

test('volatile fields do not matter, also inside JSON that is a text', () => {
  for (const field of VOLATILE_FIELDS) {
    expect(keyOf({ a: 1, [field]: 2 })).toBe(keyOf({ a: 1, [field]: 3 }));
    const inText = (value: number) => ({
      content: JSON.stringify({ results: [{ [field]: value }], total: 1 }),
    });
    expect(keyOf(inText(0.1))).toBe(keyOf(inText(0.2)));
  }
  expect(keyOf({ content: '{"total":1}' })).not.toBe(keyOf({ content: '{"total":2}' }));
});

test('embeddings that differ by a rounding are nearly the same request, others are not', () => {
  const vector = Array.from({ length: 384 }, (_, index) => Math.sin(index));
  const near = vector.map((value) => value + 1e-4 * Math.cos(value * 99));
  const other = vector.toReversed();
  const request = (values: number[]) =>
    matchKey({
      method: 'POST',
      url: 'https://q.test/query',
      headers: {},
      body: { json: { query: values, limit: 5 } },
    });
  const [a, b, c] = [request(vector), request(near), request(other)];
  expect(a.exact).not.toBe(b.exact);
  expect(a.nearly).toBe(b.nearly);
  expect(sameVectors(a.vectors, b.vectors)).toBe(true);
  expect(sameVectors(a.vectors, c.vectors)).toBe(false);
});
