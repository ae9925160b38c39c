import { expect, test } from 'vitest';
import { formatInterval, formatMetricDifference } from '../../../src/evaluation/report/format-metric.ts';

test('a signed value has no sign if it rounds to zero', () => {
  expect(formatMetricDifference(0.0491, 'share')).toBe('+0.049');
  expect(formatMetricDifference(-0.0491, 'share')).toBe('-0.049');
  expect(formatMetricDifference(-0.0001, 'share')).toBe('0.000');
  expect(formatMetricDifference(0.0001, 'share')).toBe('0.000');
  expect(formatMetricDifference(-39.4, 'ms')).toBe('-39 ms');
});

test('an interval shows both bounds in the given format', () => {
  expect(formatInterval([0.612, 0.753], 'share')).toBe('0.612 to 0.753');
  expect(formatInterval([-0.02, 0.03], 'share', formatMetricDifference)).toBe('-0.020 to +0.030');
});
