import { expect, test } from 'vitest';
import { formatInterval, formatSignedValue } from '../../../src/web/report/report-metrics.ts';

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
