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
  const weight = (terms: string[]) => toSparseVector(terms).values[0] ?? 0;
  const filler = Array.from({ length: 99 }, (_, index) => `word${index}`);
  expect(weight(['robot', ...filler])).toBeCloseTo(1, 6);
  expect(weight(['robot', 'robot', 'arm'])).toBeGreaterThan(weight(['robot', 'hand', 'arm']));
  expect(weight(['robot', ...filler, 'arm'])).toBeLessThan(1);
});
