import { oneLine } from '../text/visible-text.ts';
import { type Advice, advice, settingName, viaCommand } from './advice.ts';
import { AppError, type ErrorKind } from './app-error.ts';
import { certificateHint, classifyNetworkCode } from './network-errors.ts';
import { redactShownText } from './redactor.ts';

/** How messages name a hosted service. */
export interface ServiceNames {
  /** "Cohere", or "The model service at api.groq.com". */
  service: string;
  /** The variable that holds the key. */
  keyVariable: string;
}

/** An error of a service in words. */
export interface ErrorDescription {
  kind: ErrorKind;
  /** Without the full stop. */
  sentence: string;
  /** Whether the message of the service follows the sentence. */
  includeMessage?: boolean;
  hint?: string | Advice;
  recoverable?: boolean;
}

interface ServiceErrorParts {
  /** The message of the service, unredacted. */
  serviceMessage: string;
  /** All configured keys; they are removed from the message. */
  secrets: readonly (string | undefined)[];
  /** Seconds that the service asks to wait. */
  retryAfter: number | undefined;
  cause: Error;
}

const MAX_MESSAGE_LENGTH = 300;
const NO_CREDIT =
  /insufficient[_ ](quota|credits?|balance|funds)|billing_(not_active|hard_limit)|credit balance|(more|out of|enough) credits/i;

/** An AppError from a description; its message contains no key. */
export function createServiceError(
  { kind, sentence, includeMessage, hint, recoverable = kind === 'rate_limit' }: ErrorDescription,
  parts: ServiceErrorParts,
): AppError {
  const words =
    includeMessage === true
      ? oneLine(redactShownText(parts.serviceMessage, parts.secrets), MAX_MESSAGE_LENGTH)
      : '';
  return new AppError(kind, words === '' ? `${sentence}.` : `${sentence}: ${words.replace(/\.?$/, '.')}`, {
    hint,
    recoverable,
    retryAfter: recoverable ? parts.retryAfter : undefined,
    cause: parts.cause,
  });
}

/** Describes a request that did not reach the service, or a response that did not arrive. */
export function describeNetworkError(code: string | undefined, { service }: ServiceNames): ErrorDescription {
  const { predicate, duration } = classifyNetworkCode(code) ?? {
    predicate: 'could not be reached',
    duration: 'moment',
  };
  return {
    kind: 'api_error',
    sentence: `${service} ${predicate}${code === undefined ? '' : ` (${code})`}`,
    recoverable: duration !== 'lasting',
    hint: certificateHint(code) ?? 'Check the base URL, that the service is running, and the network.',
  };
}

/** A predicate follows the name of a service; a reason stands alone, blank if the status number says as much. */
const HTTP_ERRORS: ReadonlyArray<[statuses: RegExp, ErrorKind, predicate: string, reason: string]> = [
  // Cohere sends 498 for a key that is no longer valid.
  [/^(401|498)$/, 'auth_error', 'did not accept the key', 'access denied'],
  [/^403$/, 'auth_error', 'denied access', 'access denied'],
  [/^402$/, 'rate_limit', 'requires payment', 'payment required'],
  [/^(404|410)$/, 'configuration_error', 'has nothing at this address', 'not found'],
  [/^405$/, 'configuration_error', 'has nothing at this address', ''],
  [/^413$/, 'context_overflow', 'did not accept a request of this length', ''],
  [/^429$/, 'rate_limit', 'is receiving too many requests', 'too many requests'],
  [/^(503|529)$/, 'api_error', 'is overloaded', 'server error'],
  [/^5/, 'api_error', 'failed', 'server error'],
  [/^(408|409|425)$/, 'api_error', 'failed', ''],
];
const TRANSIENT_STATUS = /^(408|409|425|429|5..)$/;

/** What an HTTP status of 400 or above means; `transient` if the same request may succeed later. */
export function classifyHttpStatus(status: number) {
  const found = HTTP_ERRORS.find(([statuses]) => statuses.test(String(status)));
  const [, kind, predicate, reason] = found ?? [null, 'api_error' as const, 'did not accept the request', ''];
  return { kind, predicate, reason, transient: TRANSIENT_STATUS.test(String(status)) };
}

/** Describes an HTTP status of 400 or above whose message says nothing more specific. */
export function describeHttpError(status: number, { service, keyVariable }: ServiceNames): ErrorDescription {
  const { kind, predicate, transient } = classifyHttpStatus(status);
  const description = {
    kind,
    sentence: `${service} ${predicate}`,
    includeMessage: true,
    recoverable: transient,
  };
  if (kind === 'auth_error') {
    return {
      ...description,
      hint: `Check ${keyVariable} in the environment or in .env, and that it belongs to this service.`,
    };
  }
  if (kind !== 'api_error' || transient) return description;
  return { ...description, hint: advice`Check the model and its settings${viaCommand('doctor')}` };
}

/** Describes an account without credit, which services report with several statuses; undefined for other errors. */
export function describeNoCredit(
  status: number,
  message: string,
  { service }: ServiceNames,
): ErrorDescription | undefined {
  if (status !== 402 && (status >= 500 || !NO_CREDIT.test(message))) return undefined;
  return {
    kind: 'rate_limit',
    sentence: `The account at ${toMidSentence(service)} has no credit left`,
    includeMessage: true,
    hint: 'Check the plan and billing of the account, or use another provider.',
    recoverable: false,
  };
}

/** The name of a service inside a sentence. */
export function toMidSentence(service: string): string {
  return service.replace(/^The /, 'the ');
}

/** The model reached its token limit before it wrote anything. */
export function outOfTokensError(wasReasoning: boolean): AppError {
  const message = wasReasoning
    ? 'The model used its whole token limit for reasoning and had none left for an answer.'
    : 'The model reached its token limit before it had an answer.';
  return new AppError('api_error', message, { hint: advice`Raise ${settingName('maxTokens')}.` });
}

/** The service withheld the whole answer. */
export function contentFilterError(): AppError {
  return new AppError('api_error', 'The content filter of the model service withheld the answer.', {
    hint: 'Rephrase the question.',
  });
}
