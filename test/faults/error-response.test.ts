import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPlainAdvice } from '../../src/faults/advice.ts';
import { AppError } from '../../src/faults/app-error.ts';
import {
  defaultErrorMessages,
  errorResponseSchema,
  fromErrorResponse,
  plainHint,
  toErrorResponse,
} from '../../src/faults/error-response.ts';

const kinds = Object.keys(defaultErrorMessages) as (keyof typeof defaultErrorMessages)[];

test.each(kinds)('the error type %s has a user message and a hint', (kind) => {
  const response = toErrorResponse(new AppError(kind, 'What happened.'));
  expect(errorResponseSchema.parse(response)).toEqual(response);
  expect(response).toMatchObject({ errorType: kind, message: 'What happened.', retryAfter: null });
  const { sentence = 'What happened.', hint } = defaultErrorMessages[kind];
  expect(response.userMessage).toBe([sentence, formatPlainAdvice(hint)].filter(Boolean).join(' '));
});

test('the user message of bad input says what is wrong', () => {
  const { userMessage } = toErrorResponse(new AppError('invalid_input', 'No such thing.', { hint: 'Look.' }));
  expect(userMessage).toBe('No such thing. Look.');
});

test('has the documented error types', () => {
  expect(kinds).toEqual(
    expect.arrayContaining([
      'rate_limit',
      'api_error',
      'retrieval_error',
      'auth_error',
      'invalid_input',
      'context_overflow',
      'configuration_error',
    ]),
  );
});

test('prefers the hint of the error to that of its kind', () => {
  expect(plainHint(new AppError('auth_error', 'No key.', { hint: 'Set OPENAI_API_KEY.' }))).toBe(
    'Set OPENAI_API_KEY.',
  );
});

test('a rate limit is recoverable and has a wait', () => {
  const response = toErrorResponse(new AppError('rate_limit', 'Too many.', { retryAfter: 2.4 }));
  expect(response).toMatchObject({ recoverable: true, retryAfter: 2.4 });
  expect(response.userMessage).toContain('in 3 seconds');
});

const anyFailure = fc
  .record({
    kind: fc.constantFrom(...kinds),
    message: fc.string(),
    hint: fc.option(
      fc.oneof(
        fc.string(),
        fc.constantFrom(...Object.values(defaultErrorMessages).map(({ sentence = '' }) => sentence)),
      ),
      { nil: undefined },
    ),
    recoverable: fc.boolean(),
    retryAfter: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
  })
  .map(({ kind, message, ...options }) => new AppError(kind, message, options));

test('restores an error from its JSON response', () => {
  fc.assert(
    fc.property(anyFailure, (failure) => {
      const response = toErrorResponse(failure);
      const back = fromErrorResponse(errorResponseSchema.parse(JSON.parse(JSON.stringify(response))));
      const { kind, message, recoverable } = failure;
      expect(back).toMatchObject({ kind, message, recoverable });
      // JSON has one zero.
      expect(back.retryAfter).toBe(failure.retryAfter && failure.retryAfter + 0);
      expect(plainHint(back)).toBe(plainHint(failure));
      expect(toErrorResponse(back)).toEqual(response);
    }),
  );
});
