import { expect, test } from 'vitest';
import { address, numberList, portSchema, readFlag, wholeNumber } from '../../src/config/read-value.ts';

test('returns the value of a flag, or undefined', () => {
  expect(readFlag('--limit', undefined, wholeNumber(1))).toBeUndefined();
  expect(readFlag('--limit', 20, wholeNumber(1))).toBe(20);
  expect(readFlag('--port', 0, portSchema)).toBe(0);
  expect(readFlag('--top-k', ' 3, 5,10 ', numberList)).toEqual([3, 5, 10]);
});

test.each([
  [0, wholeNumber(1), '--flag must be a whole number, at least 1, not 0.'],
  [1.5, wholeNumber(1), '--flag must be a whole number, at least 1, not 1.5.'],
  [101, wholeNumber(1, 100), '--flag must be a whole number from 1 to 100, not 101.'],
  [70_000, portSchema, '--flag must be a whole number from 0 to 65535, not 70000.'],
  ['3,fifty', numberList, '--flag must be a comma-separated list of numbers.'],
  ['ftp://x', address, '--flag must be an http or https URL.'],
])('rejects %s with the allowed values', (value, schema, message) => {
  expect(() => readFlag('--flag', value, schema)).toThrow(
    expect.objectContaining({ kind: 'invalid_input', message }),
  );
});

test('does not repeat values that may be keys', () => {
  expect(() => readFlag('--limit', Number.NaN, wholeNumber(1))).toThrow('at least 1.');
  expect(() => readFlag('--limit', 'sk-abcdefghijklmnop', wholeNumber(1))).toThrow('at least 1.');
});
