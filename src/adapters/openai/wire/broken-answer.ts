import { AppError } from '../../../domain/app-error.ts';

/** A stream that ended before the model had said that it was done. */
export function brokenStream(begun: boolean): AppError {
  const message = begun
    ? 'The answer of the model broke off in the middle.'
    : 'The model service ended the connection before it had answered.';
  return new AppError('api_error', message, { recoverable: true, hint: 'Ask again.' });
}

/** An answer with status 200 that is nothing like one. */
export function notAnAnswer(text: string): AppError {
  if (/^\s*<(!doctype|html)/i.test(text)) {
    return new AppError('configuration_error', 'The model service answered with a web page.', {
      hint: 'Check the base URL: for most services it ends in /v1.',
    });
  }
  return new AppError('api_error', 'The model service sent an answer that is not valid JSON.', {
    recoverable: true,
  });
}
