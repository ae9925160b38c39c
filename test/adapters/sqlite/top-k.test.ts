import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareByScore, TopKList } from '../../../src/adapters/sqlite/top-k.ts';

test('keeps the first k in sorted order', () => {
  // Few different scores, so that ties are common.
  const score = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true }));
  const many = fc.uniqueArray(fc.record({ id: fc.nat(), score }), {
    selector: ({ id }) => id,
    maxLength: 200,
  });
  fc.assert(
    fc.property(many, fc.integer({ min: 0, max: 30 }), (scored, limit) => {
      const best = new TopKList(limit);
      for (const candidate of scored) {
        if (candidate.score >= best.floor) best.add(candidate.id, candidate.score);
      }
      expect(best.sorted).toEqual(scored.toSorted(compareByScore).slice(0, limit));
    }),
    { numRuns: 500 },
  );
});
