import { AppError } from '../../domain/app-error.ts';
import { type ErrorResponse, userAdvice } from '../../domain/error-response.ts';

/** The failure that an `error` event reports, as it was before it became data. */
export function failureOf({ errorType, message, userMessage, retryAfter, recoverable }: ErrorResponse) {
  const { sentence } = userAdvice[errorType];
  const hint = userMessage.startsWith(sentence) ? userMessage.slice(sentence.length).trim() : userMessage;
  return new AppError(errorType, message, {
    ...(hint !== '' && { hint }),
    ...(retryAfter !== null && { retryAfter }),
    recoverable,
  });
}
