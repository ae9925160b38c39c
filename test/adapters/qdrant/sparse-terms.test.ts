import { expect, test } from 'vitest';
import { extractChunkTerms, hashTerm, toSparseVector } from '../../../src/adapters/qdrant/sparse-terms.ts';

test('hashes of terms never change, because collections store them', () => {
  expect(['robot', 'ros2', 'straße', '机器', ''].map(hashTerm)).toEqual([
    1828356270, 2327683441, 1570736651, 351761699, 2872998923,
  ]);
});

test('includes the terms of title and headings', () => {
  expect(extractChunkTerms('Nodes', ['Spinning'], 'A node spins.')).toEqual([
    'node',
    'spin',
    'a',
    'node',
    'spin',
  ]);
});

test('weighs a term by its frequency and the length of the chunk', () => {
  const weight = (terms: string[], averageLength: number) =>
    toSparseVector(terms, averageLength).values[0] ?? 0;
  expect(weight(['robot'], 1)).toBeCloseTo(1, 6);
  expect(weight(['robot', 'robot', 'arm'], 3)).toBeGreaterThan(weight(['robot', 'hand', 'arm'], 3));
  expect(weight(['robot', 'hand', 'arm'], 2)).toBeLessThan(weight(['robot', 'hand', 'arm'], 3));
});
