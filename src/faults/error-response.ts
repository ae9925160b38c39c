import * as z from 'zod';
import { type Advice, advice, formatPlainAdvice, settingName, viaCommand } from './advice.ts';
import { AppError, type ErrorKind } from './app-error.ts';

/** The general sentence of each kind of error, and the hint for errors that have none. */
export const defaultErrorMessages: Readonly<Record<ErrorKind, { sentence?: string; hint: Advice }>> = {
  rate_limit: {
    sentence: 'The service is receiving too many requests.',
    hint: advice`Wait a moment and try again.`,
  },
  api_error: {
    sentence: 'The model service could not answer.',
    hint: advice`Try again, or check the service${viaCommand('doctor')}`,
  },
  retrieval_error: {
    sentence: 'The documents could not be searched.',
    hint: advice`Check the collection${viaCommand('doctor')}`,
  },
  auth_error: {
    sentence: 'The key is missing or was not accepted.',
    hint: advice`Check the key in the environment or in .env, and that it belongs to this service.`,
  },
  // The message says what to change. The command line adds the help of the command.
  invalid_input: { hint: [] },
  context_overflow: {
    sentence: 'The conversation is too long for the model.',
    hint: advice`Reset the session, ask a shorter question, or lower ${settingName('topK')}.`,
  },
  configuration_error: {
    sentence: 'The configuration is not complete or not valid.',
    hint: advice`Correct the setting that is named, or look at all of them${viaCommand('doctor')}`,
  },
  not_grounded: {
    sentence: 'The documents do not support the answer.',
    hint: advice`Rephrase the question, or add documents that cover it.`,
  },
  replay_drift: {
    sentence: 'The run no longer matches its tape.',
    hint: advice`Look at the difference, and record the tape again if it is intended.`,
  },
  gate_failed: {
    sentence: 'The measured quality is below the required level.',
    hint: advice`Look at the cases that failed in the report.`,
  },
  interrupted: {
    sentence: 'The run was interrupted.',
    hint: advice`Start it again when you are ready.`,
  },
};

const errorTypes = Object.keys(defaultErrorMessages) as [ErrorKind, ...ErrorKind[]];

/**
 * An error as JSON. `message` says what happened; `userMessage` is a general sentence, or for bad input the message,
 * followed by the hint.
 */
export const errorResponseSchema = z.object({
  errorType: z.enum(errorTypes),
  message: z.string(),
  userMessage: z.string(),
  /** Seconds. */
  retryAfter: z.number().min(0).nullable(),
  recoverable: z.boolean(),
});
export type ErrorResponse = z.infer<typeof errorResponseSchema>;

/** The errors that responses of this process were created from: JSON has no place for hints with gaps and causes. */
const origins = new WeakMap<ErrorResponse, AppError>();

export function toErrorResponse(error: AppError): ErrorResponse {
  const response = {
    errorType: error.kind,
    message: error.message,
    userMessage: joinHint(generalSentence(error), plainHint(error)),
    retryAfter: error.retryAfter ?? null,
    recoverable: error.recoverable,
  };
  origins.set(response, error);
  return response;
}

/** The error of a response; of one created in this process, with its original hint and cause. */
export function fromErrorResponse(response: ErrorResponse): AppError {
  const { errorType, message, userMessage, recoverable } = response;
  const sentence = generalSentence({ kind: errorType, message });
  const hint = userMessage.startsWith(sentence) ? userMessage.slice(sentence.length + 1) : userMessage;
  const origin = origins.get(response);
  return new AppError(errorType, message, {
    hint: origin === undefined ? hint : adviceOf(origin),
    recoverable,
    retryAfter: response.retryAfter ?? undefined,
    cause: origin?.cause,
  });
}

/** The hint of an error, or the default one of its kind, as a plain sentence. */
export function plainHint(error: AppError): string {
  return formatPlainAdvice(adviceOf(error));
}

export function messageWithHint(error: AppError): string {
  return joinHint(error.message, plainHint(error));
}

/** The hint of an error, or the default one of its kind, with gaps for the names of settings and commands. */
export function adviceOf({ kind, advice: own, retryAfter }: AppError): Advice {
  if (own !== undefined) return own;
  if (retryAfter !== undefined) return [`Try again in ${Math.ceil(retryAfter)} seconds.`];
  return defaultErrorMessages[kind].hint;
}

function joinHint(sentence: string, hint: string): string {
  return hint === '' ? sentence : `${sentence} ${hint}`;
}

/** The part of `userMessage` before the hint. */
function generalSentence({ kind, message }: Pick<AppError, 'kind' | 'message'>): string {
  return defaultErrorMessages[kind].sentence ?? message;
}
