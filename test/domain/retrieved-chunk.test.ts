import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retrievedChunkSchema, toScore } from '../../src/domain/retrieved-chunk.ts';
import { chunk } from './arbitraries.ts';

test('a chunk has a score from 0 to 1', () => {
  expect(retrievedChunkSchema.parse(chunk({ score: 1 })).score).toBe(1);
  for (const score of [-0.001, 1.001, Number.NaN]) {
    expect(retrievedChunkSchema.safeParse(chunk({ score })).success).toBe(false);
  }
});

test('rejects a blank chunk, one without tokens, and one without a URL', () => {
  const accepts = (fields: object) => retrievedChunkSchema.safeParse({ ...chunk(), ...fields }).success;
  expect(accepts({ text: ' \n' })).toBe(false);
  expect(accepts({ tokenCount: 0 })).toBe(false);
  for (const url of ['https://docs.test/a', 'file:///docs/a.md', 'guide/a%20b.md', 'qdrant:7']) {
    expect(accepts({ url })).toBe(true);
  }
  for (const url of ['', ' ', 'https://', 'http://[', 'a\nb']) expect(accepts({ url })).toBe(false);
});

test('turns any similarity into a valid score', () => {
  fc.assert(fc.property(fc.double(), (value) => toScore(value) >= 0 && toScore(value) <= 1));
  fc.assert(fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (value) => toScore(value) === value));
});
