import { expect, test } from 'vitest';
import { AppError } from '../../src/faults/app-error.ts';
import { exitCodeOf } from '../../src/faults/exit-code.ts';

test.each([
  ['invalid_input', 2],
  ['context_overflow', 2],
  ['configuration_error', 3],
  ['auth_error', 3],
  ['retrieval_error', 4],
  ['api_error', 5],
  ['rate_limit', 5],
  ['not_grounded', 6],
  ['replay_drift', 7],
  ['gate_failed', 8],
  ['interrupted', 130],
] as const)('an error of kind %s ends with exit code %i', (kind, code) => {
  expect(exitCodeOf(new AppError(kind, 'What happened.'))).toBe(code);
});

test('anything but an AppError ends with exit code 1', () => {
  expect(exitCodeOf(new TypeError('undefined is not a function'))).toBe(1);
  expect(exitCodeOf('text')).toBe(1);
});
