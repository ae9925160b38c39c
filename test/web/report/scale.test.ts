import fc from 'fast-check';
import { expect, test } from 'vitest';
import { domainOf, linear, roundTicks } from '../../../src/web/report/scale.ts';

test('ticks are round numbers without the dust of floating point', () => {
  expect(roundTicks([0, 1], 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
  expect(roundTicks([-0.12, 0.33], 4)).toEqual([0, 0.2]);
  expect(roundTicks([0, 1127], 6)).toEqual([0, 200, 400, 600, 800, 1000]);
});

test('ticks lie within the domain, ascend and are few, whatever the domain', () => {
  const bound = fc.double({ min: -1e9, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(bound, fc.double({ min: 1e-4, max: 10, noNaN: true }), (from, share) => {
      const span = (1 + Math.abs(from)) * share;
      const ticks = roundTicks([from, from + span], 5);
      expect(ticks.length).toBeLessThanOrEqual(7);
      for (const [index, tick] of ticks.entries()) {
        expect(tick).toBeGreaterThanOrEqual(from - span * 0.01);
        expect(tick).toBeLessThanOrEqual(from + span * 1.01);
        if (index > 0) expect(tick).toBeGreaterThan(ticks[index - 1] as number);
      }
    }),
  );
});

test('an empty, a single and a flat domain still give places on the plot', () => {
  for (const values of [[], [0], [3, 3, 3], [Number.NaN]]) {
    const domain = domainOf(values);
    const place = linear(domain, [0, 100])(values[0] ?? 0);
    expect(domain[1]).toBeGreaterThan(domain[0]);
    expect(Number.isNaN(values[0] ?? 0) || Number.isFinite(place)).toBe(true);
  }
});
