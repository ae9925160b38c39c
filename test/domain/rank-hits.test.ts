import { expect, test } from 'vitest';
import { fusedScore, lexicalScore, matchSimilarity, rankHits } from '../../src/domain/rank-hits.ts';

const both = { lexical: true, dense: true };
const at = (score: number, rank = 1) => ({ rank, score });

test('a lexical score grows with the share and stays in 0..1', () => {
  expect(lexicalScore(-1)).toBe(0);
  expect(lexicalScore(0)).toBe(0);
  expect(lexicalScore(1)).toBeCloseTo(0.632, 3);
  expect(lexicalScore(100)).toBe(1);
});

test('sorts hits by the mean of both similarities, or by the only one', () => {
  expect(fusedScore({ lexical: at(0.2), dense: at(0.8) }, both)).toBeCloseTo(0.5);
  expect(fusedScore({ lexical: null, dense: at(0.8) }, both)).toBeCloseTo(0.4);
  expect(fusedScore({ lexical: at(0.2), dense: at(0.8) }, { lexical: false, dense: true })).toBe(0.8);
  expect(fusedScore({ lexical: at(0.2), dense: at(0.8) }, { lexical: true, dense: false })).toBe(0.2);
  expect(fusedScore({ lexical: at(2), dense: at(-1) }, both)).toBe(0.5);
});

test('ranks a chunk without a vector by its lexical score', () => {
  expect(fusedScore({ lexical: at(0.2), dense: null }, both)).toBe(0.2);
  expect(matchSimilarity({ lexical: at(0.9), dense: null }, both)).toBe(0.9);
});

test('a paraphrase without shared words keeps its dense score', () => {
  expect(matchSimilarity({ lexical: null, dense: at(0.8) }, both)).toBe(0.8);
  expect(matchSimilarity({ lexical: at(0.9), dense: at(0.1) }, both)).toBe(0.5);
});

test('fuses both halves, best first, up to the limit', () => {
  const lexical = [
    { id: 'a', score: 0.9 },
    { id: 'b', score: 0.5 },
  ];
  const dense = [
    { id: 'b', score: 0.9 },
    { id: 'c', score: 0.8 },
  ];
  const hits = rankHits(lexical, dense, 3);
  expect(hits.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  expect(hits[0]).toMatchObject({ lexical: { rank: 1 }, dense: null });
  expect(hits[1]).toMatchObject({ lexical: { rank: 2, score: 0.5 }, dense: { rank: 1, score: 0.9 } });
  expect(rankHits(lexical, dense, 1).map(({ id }) => id)).toEqual(['a']);
  expect(rankHits(null, dense, 9).map(({ id, score }) => [id, score])).toEqual([
    ['b', 0.9],
    ['c', 0.8],
  ]);
});

test('breaks ties by rank, then by id', () => {
  const lexical = [
    { id: 'z', score: 1.5 },
    { id: 'a', score: 1.2 },
  ];
  expect(rankHits(lexical, null, 2).map(({ id }) => id)).toEqual(['z', 'a']);
  const same = rankHits([{ id: 'b', score: 0.5 }], [{ id: 'a', score: 1 }], 2);
  expect(same.map(({ id }) => id)).toEqual(['a', 'b']);
});
