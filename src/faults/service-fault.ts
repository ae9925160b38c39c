import { oneLine } from '../text/visible-text.ts';
import { type Advice, advice, command } from './advice.ts';
import { AppError, type ErrorKind } from './app-error.ts';
import { httpFault } from './http-fault.ts';
import { certificateHint, networkFault } from './network-fault.ts';
import { redactKeys } from './redact-keys.ts';

/** How sentences name a hosted service. */
export interface ServiceNames {
  /** "Cohere", or "The model service at api.groq.com". */
  service: string;
  /** Where the person sets the key. */
  keyVariable: string;
}

/** A fault of a service in words. `said` tells whether what the service said belongs behind the sentence. */
export interface Description {
  kind: ErrorKind;
  sentence: string;
  said?: boolean;
  hint?: string | Advice;
  recoverable?: boolean;
}

/** What came with a fault. */
interface FaultParts {
  /** What the service said, as it came. */
  said: string;
  /** The configured keys, of whichever service; they are removed from whatever this one said. */
  secrets: readonly (string | undefined)[];
  /** Seconds that the service asks to wait. */
  retryAfter: number | undefined;
  cause: Error;
}

const SAID_LENGTH = 300;
const NO_CREDIT =
  /insufficient[_ ](quota|credits?|balance|funds)|billing_(not_active|hard_limit)|credit balance|(more|out of|enough) credits/i;

/** The fault as one plain sentence without any key. */
export function serviceFault(
  { kind, sentence, said, hint, recoverable = kind === 'rate_limit' }: Description,
  parts: FaultParts,
): AppError {
  const words = said === true ? oneLine(redactKeys(parts.said, parts.secrets), SAID_LENGTH) : '';
  return new AppError(kind, words === '' ? `${sentence}.` : `${sentence}: ${words.replace(/\.?$/, '.')}`, {
    hint,
    recoverable,
    retryAfter: recoverable ? parts.retryAfter : undefined,
    cause: parts.cause,
  });
}

/** What kept a request from reaching the service, or its answer from reaching us. */
export function describeNetworkFault(code: string | undefined, { service }: ServiceNames): Description {
  const { predicate, duration } = networkFault(code) ?? {
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

/** What a status of 400 or above means where the service's own words say nothing more. */
export function describeHttpFault(status: number, { service, keyVariable }: ServiceNames): Description {
  const { kind, predicate, transient } = httpFault(status);
  const fault = { kind, sentence: `${service} ${predicate}`, said: true, recoverable: transient };
  if (kind === 'auth_error') {
    return {
      ...fault,
      hint: `Check ${keyVariable} in the environment or in .env, and that it belongs to this service.`,
    };
  }
  if (kind !== 'api_error' || transient) return fault;
  return { ...fault, hint: advice`Check the model and its settings${command('doctor')}` };
}

/** That the account is empty, which comes with several statuses; undefined if it is something else. */
export function describeNoCredit(
  status: number,
  words: string,
  { service }: ServiceNames,
): Description | undefined {
  if (status !== 402 && (status >= 500 || !NO_CREDIT.test(words))) return undefined;
  return {
    kind: 'rate_limit',
    sentence: `The account at ${lowered(service)} has no credit left`,
    said: true,
    hint: 'Look at the plan and the billing of the account, or use another provider.',
    recoverable: false,
  };
}

/** A service's name inside a sentence. */
export function lowered(service: string): string {
  return service.replace(/^The /, 'the ');
}
