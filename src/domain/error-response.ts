import * as z from 'zod';
import type { AppError, ErrorKind } from './app-error.ts';

interface Advice {
  sentence: string;
  /** What to do next, when the error itself does not know better. */
  hint: string;
}

/** What a person is told about each kind of failure. */
export const userAdvice: Readonly<Record<ErrorKind, Advice>> = {
  rate_limit: {
    sentence: 'The service is receiving too many requests.',
    hint: 'Wait a moment and try again.',
  },
  api_error: {
    sentence: 'The model service could not answer.',
    hint: 'Try again, or check the service with: citeloop doctor',
  },
  retrieval_error: {
    sentence: 'The documents could not be searched.',
    hint: 'Check the collection with: citeloop doctor',
  },
  auth_error: {
    sentence: 'The service did not accept the key.',
    hint: 'Check the key in the environment or in .env, and that it belongs to this service.',
  },
  invalid_input: {
    sentence: 'That input cannot be used.',
    hint: 'Correct it and try again; --help shows what is accepted.',
  },
  context_overflow: {
    sentence: 'The conversation is too long for the model.',
    hint: 'Reset the session, ask a shorter question, or lower --top-k.',
  },
  configuration_error: {
    sentence: 'The configuration is not complete or not valid.',
    hint: 'Correct the setting that is named, or look at all of them with: citeloop doctor',
  },
  not_grounded: {
    sentence: 'The answer is not borne out by the documents.',
    hint: 'Rephrase the question, or add documents that cover it.',
  },
  replay_drift: {
    sentence: 'The run no longer matches its tape.',
    hint: 'Look at the difference, and record the tape again if it is intended.',
  },
  gate_failed: {
    sentence: 'The measured quality is below the required level.',
    hint: 'Look at the cases that failed in the report.',
  },
  interrupted: {
    sentence: 'The run was interrupted.',
    hint: 'Start it again when you are ready.',
  },
};

const errorTypes = Object.keys(userAdvice) as [ErrorKind, ...ErrorKind[]];

/** A failure as JSON. `message` is what happened; `userMessage` says it plainly, with what to do next. */
export const errorResponseSchema = z.object({
  errorType: z.enum(errorTypes),
  message: z.string(),
  userMessage: z.string(),
  /** Seconds. */
  retryAfter: z.number().min(0).nullable(),
  recoverable: z.boolean(),
});
export type ErrorResponse = z.infer<typeof errorResponseSchema>;

export function toErrorResponse(error: AppError): ErrorResponse {
  return {
    errorType: error.kind,
    message: error.message,
    userMessage: `${userAdvice[error.kind].sentence} ${hintOf(error)}`,
    retryAfter: error.retryAfter ?? null,
    recoverable: error.recoverable,
  };
}

/** What to do next: as the error says, or else as its kind suggests. */
export function hintOf(error: AppError): string {
  if (error.hint !== undefined) return error.hint;
  if (error.retryAfter !== undefined) return `Try again in ${Math.ceil(error.retryAfter)} seconds.`;
  return userAdvice[error.kind].hint;
}
