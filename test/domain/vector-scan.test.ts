import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVectorScan } from '../../src/domain/vector-scan.ts';

function scanCompiled(vectors: Int8Array, count: number, query: Int8Array): Int32Array {
  const { memory, scan } = createVectorScan();
  const queryOffset = count * 4;
  const vectorsOffset = queryOffset + query.length;
  const buffer = memory(vectorsOffset + vectors.length);
  new Int8Array(buffer, queryOffset, query.length).set(query);
  new Int8Array(buffer, vectorsOffset, vectors.length).set(vectors);
  scan(vectorsOffset, count, query.length, queryOffset, 0);
  return new Int32Array(buffer, 0, count).slice();
}

const byte = fc.oneof(fc.constantFrom(-128, -127, 0, 127), fc.integer({ min: -128, max: 127 }));

test('the compiled scan equals a plain loop for any vectors', () => {
  const cases = fc
    .record({ blocks: fc.integer({ min: 1, max: 12 }), count: fc.integer({ min: 0, max: 9 }) })
    .chain(({ blocks, count }) => {
      const dimensions = blocks * 16;
      const values = (length: number) =>
        fc.array(byte, { minLength: length, maxLength: length }).map((array) => Int8Array.from(array));
      return fc.record({
        count: fc.constant(count),
        query: values(dimensions),
        vectors: values(dimensions * count),
      });
    });
  fc.assert(
    fc.property(cases, ({ count, query, vectors }) => {
      expect(scanCompiled(vectors, count, query)).toEqual(scanInPlainLoop(vectors, count, query));
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['the smallest values', -128, -128],
  ['the largest values', 127, 127],
  ['opposite values', -128, 127],
])('the compiled scan does not overflow on %s', (_, ofVectors, ofQuery) => {
  const dimensions = 4096;
  const vectors = new Int8Array(dimensions * 3).fill(ofVectors);
  const query = new Int8Array(dimensions).fill(ofQuery);
  expect([...scanCompiled(vectors, 3, query)]).toEqual(Array(3).fill(ofVectors * ofQuery * dimensions));
});

test('memory grows to the given size and keeps its contents', () => {
  const { memory } = createVectorScan();
  new Uint8Array(memory(10)).set([1, 2, 3]);
  const grown = memory(300_000);
  expect(grown.byteLength).toBeGreaterThanOrEqual(300_000);
  expect([...new Uint8Array(grown, 0, 3)]).toEqual([1, 2, 3]);
});

function scanInPlainLoop(vectors: Int8Array, count: number, query: Int8Array): Int32Array {
  const out = new Int32Array(count);
  for (let i = 0; i < count; i += 1) {
    let sum = 0;
    for (let j = 0; j < query.length; j += 1) sum += (vectors[i * query.length + j] ?? 0) * (query[j] ?? 0);
    out[i] = sum;
  }
  return out;
}
