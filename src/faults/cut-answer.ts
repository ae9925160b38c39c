import { advice, setting } from './advice.ts';
import { AppError } from './app-error.ts';

/** A model that had no tokens left before it said anything. */
export function outOfTokens(wasThinking: boolean): AppError {
  const message = wasThinking
    ? 'The model spent its whole limit of tokens on thinking and had none left for an answer.'
    : 'The model reached its limit of tokens before it had an answer.';
  return new AppError('api_error', message, { hint: advice`Raise ${setting('maxTokens')}.` });
}

/** A service that let nothing of an answer through. */
export function withheldByFilter(): AppError {
  return new AppError('api_error', 'The answer was withheld by the content filter of the model service.', {
    hint: 'Rephrase the question.',
  });
}
