import { expect, test } from 'vitest';
import type { JudgeFigures } from '../../../src/evaluation/calibration/calibration-data.ts';
import { findingsOf, formatEstimate } from '../../../src/evaluation/calibration/findings.ts';

function aJudge(kappa: JudgeFigures['kappa']): JudgeFigures {
  const agreement = { value: 0.6, interval: [0.45, 0.73], n: 40 } as JudgeFigures['agreement'];
  return { name: 'check', ruled: 40, agreement, kappa, bias: [] } as unknown as JudgeFigures;
}
const kappaOf = (value: number, low: number, high: number) => ({
  value,
  interval: [low, high] as [number, number],
  n: 40,
});
const headline = (kappa: JudgeFigures['kappa']) => findingsOf([aJudge(kappa)], [])[0];

test('agreement is called what its interval bears out', () => {
  expect(headline(kappaOf(0.25, -0.04, 0.5))).toBe(
    'The check says the same as people on 60 % (45 % to 73 %) of 40 labels: agreement beyond chance is not shown, the interval of kappa 0.25 (-0.04 to 0.50) reaches 0.',
  );
  expect(headline(kappaOf(0.5, 0.25, 0.7))).toContain('fair to substantial agreement, kappa 0.50');
  expect(headline(kappaOf(0.5, 0.45, 0.55))).toContain(': moderate agreement, kappa 0.50');
  expect(headline(kappaOf(-0.4, -0.6, -0.1))).toContain('less than chance would do');
  expect(headline({ value: 0.5, interval: null, n: 1 })).toContain(
    'is not shown, kappa 0.50 of too few labels',
  );
});

test('what rounds to nought has no sign', () => {
  expect(headline(kappaOf(-0.001, -0.2, 0.2))).toContain('kappa 0.00 (-0.20 to 0.20)');
  expect(formatEstimate(kappaOf(-0.0001, -0.004, 0.2))).toBe('0.00 (0.00 to 0.20)');
});
