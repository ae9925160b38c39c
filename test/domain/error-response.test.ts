import { expect, test } from 'vitest';
import { AppError } from '../../src/domain/app-error.ts';
import { errorResponseSchema, hintOf, toErrorResponse, userAdvice } from '../../src/domain/error-response.ts';

const kinds = Object.keys(userAdvice) as (keyof typeof userAdvice)[];

test.each(kinds)('the error type %s has a sentence for the user and what to do next', (kind) => {
  const response = toErrorResponse(new AppError(kind, 'What happened.'));
  expect(errorResponseSchema.parse(response)).toEqual(response);
  expect(response).toMatchObject({ errorType: kind, message: 'What happened.', retryAfter: null });
  expect(response.userMessage).toBe(`${userAdvice[kind].sentence} ${userAdvice[kind].hint}`);
});

test('the seven error types of the design are there', () => {
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

test('the hint of the error itself beats the one of its kind', () => {
  expect(hintOf(new AppError('auth_error', 'No key.', { hint: 'Set OPENAI_API_KEY.' }))).toBe(
    'Set OPENAI_API_KEY.',
  );
});

test('a rate limit can be tried again, and says when', () => {
  const response = toErrorResponse(new AppError('rate_limit', 'Too many.', { retryAfter: 2.4 }));
  expect(response).toMatchObject({ recoverable: true, retryAfter: 2.4 });
  expect(response.userMessage).toContain('in 3 seconds');
});
