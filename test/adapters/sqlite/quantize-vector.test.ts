import fc from 'fast-check';
import { expect, test } from 'vitest';
import { paddedDimensions, quantizeVector } from '../../../src/adapters/sqlite/vector-segments.ts';
import { dotProduct } from '../../../src/domain/unit-vectors.ts';

const vectors = fc
  .array(fc.float({ noNaN: true, noDefaultInfinity: true, min: -1, max: 1 }), {
    minLength: 1,
    maxLength: 100,
  })
  .map((values) => Float32Array.from(values));

test('rounds each value by at most half a step', () => {
  fc.assert(
    fc.property(vectors, (vector) => {
      const { values, scale } = quantizeVector(vector);
      vector.forEach((value, index) => {
        expect(Math.abs(value - (values[index] ?? 0) * scale)).toBeLessThanOrEqual(scale / 2 + 1e-7);
      });
    }),
  );
});

test('uses the whole range and pads with zeros', () => {
  fc.assert(
    fc.property(vectors, (vector) => {
      const { values, scale } = quantizeVector(vector);
      expect(values).toHaveLength(paddedDimensions(vector.length));
      expect(values.subarray(vector.length).every((value) => value === 0)).toBe(true);
      if (scale > 0) expect(values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)).toBe(127);
    }),
  );
});

test('keeps a zero vector', () => {
  expect(quantizeVector(new Float32Array(16))).toEqual({ values: new Int8Array(16), scale: 0 });
});

test('returns the cosine of unit vectors', () => {
  expect(dotProduct(Float32Array.of(1, 0), Float32Array.of(0.6, 0.8))).toBeCloseTo(0.6);
});
