import { advice, settingName } from '../../../faults/advice.ts';
import { AppError } from '../../../faults/app-error.ts';

/** The stream ended before the model reported the end of its answer. */
export function brokenStream(hasBegun: boolean): AppError {
  const message = hasBegun
    ? 'The answer of the model broke off in the middle.'
    : 'The model service closed the connection before it answered.';
  return new AppError('api_error', message, { recoverable: true, hint: 'Ask again.' });
}

export function eventTooLong(maxBytes: number): AppError {
  return new AppError('api_error', `The model service sent an event of more than ${maxBytes} bytes.`, {
    hint: advice`Check the service, or raise ${settingName('maxEventBytes')}.`,
  });
}

export function answerTooLong(maxBytes: number): AppError {
  return new AppError('api_error', `The model service sent more than ${maxBytes} bytes for one answer.`, {
    hint: advice`Ask a narrower question, or raise ${settingName('maxAnswerCharacters')}.`,
  });
}

/** The body of an answer with status 200 is not JSON. */
export function notAnAnswer(body: string): AppError {
  if (/^\s*<(!doctype|html)/i.test(body)) {
    return new AppError('configuration_error', 'The model service answered with a web page.', {
      hint: 'Check the base URL: for most services it ends in /v1.',
    });
  }
  return new AppError('api_error', 'The model service sent an answer that is not valid JSON.', {
    recoverable: true,
  });
}
