import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withBinary } from '../../../scripts/build-dot-product.ts';
import { createDotProduct } from '../../../src/adapters/sqlite/dot-product.ts';

/** Runs the compiled scan at places of its memory that depend on the sizes, as the index does. */
function scanCompiled(vectors: Int8Array, count: number, query: Int8Array): Int32Array {
  const { bytes, scan } = createDotProduct();
  const queryOffset = count * 4;
  const vectorsOffset = queryOffset + query.length;
  const memory = bytes(vectorsOffset + vectors.length);
  new Int8Array(memory, queryOffset, query.length).set(query);
  new Int8Array(memory, vectorsOffset, vectors.length).set(vectors);
  scan(vectorsOffset, count, query.length, queryOffset, 0);
  return new Int32Array(memory, 0, count).slice();
}

const byte = fc.oneof(fc.constantFrom(-128, -127, 0, 127), fc.integer({ min: -128, max: 127 }));

test('the compiled scan gives what the plain one gives, for any vectors', () => {
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
      expect(scanCompiled(vectors, count, query)).toEqual(scanInPlainJavaScript(vectors, count, query));
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

test('memory grows to what is asked for and keeps its contents', () => {
  const { bytes } = createDotProduct();
  new Uint8Array(bytes(10)).set([1, 2, 3]);
  const grown = bytes(300_000);
  expect(grown.byteLength).toBeGreaterThanOrEqual(300_000);
  expect([...new Uint8Array(grown, 0, 3)]).toEqual([1, 2, 3]);
});

test('the binary in the sources is the one that their assembly text makes', async () => {
  const place = new URL('../../../src/adapters/sqlite/', import.meta.url);
  const read = (file: string) => readFile(new URL(file, place), 'utf8');
  const [target, source] = await Promise.all([read('dot-product.ts'), read('dot-product.wat')]);
  expect(withBinary(target, source)).toBe(target);
  expect(withBinary(target, source.replaceAll('i32.const 16', 'i32.const 32'))).not.toBe(target);
});

/** What the compiled one must come to. */
function scanInPlainJavaScript(vectors: Int8Array, count: number, query: Int8Array): Int32Array {
  const out = new Int32Array(count);
  for (let i = 0; i < count; i += 1) {
    let sum = 0;
    for (let j = 0; j < query.length; j += 1) sum += (vectors[i * query.length + j] ?? 0) * (query[j] ?? 0);
    out[i] = sum;
  }
  return out;
}
