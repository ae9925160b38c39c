import { expect, test } from 'vitest';
import type { MetricValue } from '../../../src/evaluation/report/report-data.ts';
import { findBestValue, formatInterval, formatSignedValue } from '../../../src/web/report/report-metrics.ts';

const known = (value: number): MetricValue => ({ status: 'value', value, interval: null, n: 10 });
const unknown: MetricValue = { status: 'no data', reason: 'no case has it' };
const share = { better: 'higher', unit: 'share' } as const;

test('a signed value has no sign if it rounds to zero', () => {
  expect(formatSignedValue(0.0491, 'share')).toBe('+0.049');
  expect(formatSignedValue(-0.0491, 'share')).toBe('\u22120.049');
  expect(formatSignedValue(-0.0001, 'share')).toBe('0.000');
  expect(formatSignedValue(0.0001, 'share')).toBe('0.000');
  expect(formatSignedValue(-39.4, 'ms')).toBe('\u221239 ms');
});

test('an interval shows both bounds in the given format', () => {
  expect(formatInterval([0.612, 0.753], 'share')).toBe('0.612 to 0.753');
  expect(formatInterval([-0.02, 0.03], 'share', formatSignedValue)).toBe('\u22120.020 to +0.030');
});

test('the best value depends on the direction of the metric', () => {
  const values = [known(0.5), known(0.75), known(0.8), unknown];
  expect(findBestValue(values, share)).toBe(2);
  expect(findBestValue(values, { better: 'lower', unit: 'share' })).toBe(0);
});

test('no value is best if the best two look equal or only one is known', () => {
  expect(findBestValue([known(0.5), known(0.75), known(0.7501)], share)).toBeNull();
  expect(findBestValue([known(1), known(1)], share)).toBeNull();
  expect(findBestValue([known(1), unknown], share)).toBeNull();
  expect(findBestValue([known(0.5), known(0.5), known(0.75)], share)).toBe(2);
});
