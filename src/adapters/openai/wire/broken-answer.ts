import { advice, setting } from '../../../faults/advice.ts';
import { AppError } from '../../../faults/app-error.ts';

/** A stream that ended before the model had said that it was done. */
export function brokenStream(begun: boolean): AppError {
  const message = begun
    ? 'The answer of the model broke off in the middle.'
    : 'The model service ended the connection before it had answered.';
  return new AppError('api_error', message, { recoverable: true, hint: 'Ask again.' });
}

/** How much of an answer is read, in bytes. */
export interface AnswerLimits {
  /** A single event of a stream. */
  event: number;
  /** All of it. */
  answer: number;
}

/** One event that goes on and on. */
export function endlessEvent(bytes: number): AppError {
  return new AppError('api_error', `The model service sent an event of more than ${bytes} bytes.`, {
    hint: advice`Check the service, or raise ${setting('maxEventBytes')}.`,
  });
}

/** Text, thoughts or calls that go on and on. */
export function endlessAnswer(bytes: number): AppError {
  return new AppError('api_error', `The model service sent more than ${bytes} bytes for one answer.`, {
    hint: advice`Ask a narrower question, or raise ${setting('maxAnswerCharacters')}.`,
  });
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
