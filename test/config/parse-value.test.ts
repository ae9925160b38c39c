import { expect, test } from 'vitest';
import {
  httpUrlSchema,
  integerSchema,
  numberListSchema,
  parseFlag,
  portSchema,
} from '../../src/config/parse-value.ts';

test('returns the value of a flag, or undefined', () => {
  expect(parseFlag('--limit', undefined, integerSchema(1))).toBeUndefined();
  expect(parseFlag('--limit', 20, integerSchema(1))).toBe(20);
  expect(parseFlag('--port', 0, portSchema)).toBe(0);
  expect(parseFlag('--top-k', ' 3, 5,10 ', numberListSchema)).toEqual([3, 5, 10]);
});

test.each([
  [0, integerSchema(1), '--flag must be a whole number, at least 1, not 0.'],
  [1.5, integerSchema(1), '--flag must be a whole number, at least 1, not 1.5.'],
  [101, integerSchema(1, 100), '--flag must be a whole number from 1 to 100, not 101.'],
  [70_000, portSchema, '--flag must be a whole number from 0 to 65535, not 70000.'],
  ['3,fifty', numberListSchema, '--flag must be a comma-separated list of numbers.'],
  ['ftp://x', httpUrlSchema, '--flag must be an http or https URL.'],
])('rejects %s with the allowed values', (value, schema, message) => {
  expect(() => parseFlag('--flag', value, schema)).toThrow(
    expect.objectContaining({ kind: 'invalid_input', message }),
  );
});

test('does not repeat values that may be keys', () => {
  expect(() => parseFlag('--limit', Number.NaN, integerSchema(1))).toThrow('at least 1.');
  expect(() => parseFlag('--limit', 'sk-abcdefghijklmnop', integerSchema(1))).toThrow('at least 1.');
});
