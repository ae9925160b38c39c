import { AppError } from '../../domain/app-error.ts';
import { redactKeys } from '../../domain/redact-keys.ts';
import { oneLine } from '../../domain/visible-text.ts';
import type { Description, Names } from './describe-fault.ts';
import { describeHttpFault } from './describe-http-fault.ts';
import { describeNetworkFault } from './describe-network-fault.ts';
import { describeSdkFault } from './describe-sdk-fault.ts';
import { causesOf, type FaultFacts, factsOf, fieldOf } from './fault-facts.ts';

/** What the sentences about a fault name, and what they must never show. */
export interface FaultContext {
  model?: string | undefined;
  baseUrl?: string | undefined;
  /** The configured key; it is removed from whatever a service sends back. */
  apiKey?: string | undefined;
  /** Where the person sets the key; OPENAI_API_KEY unless given. */
  keyVariable?: string | undefined;
  /** Raised by the person; whatever fails after that counts as interrupted. */
  signal?: AbortSignal | undefined;
}

const SAID_LENGTH = 300;

/**
 * Anything that a model, its client or the SDK's loop threw, as one plain sentence without any key.
 * An AppError stays as it is, also when the client has wrapped it.
 */
export function toAppError(error: unknown, context: FaultContext = {}): AppError {
  const own = causesOf(error).find((each) => each instanceof AppError);
  if (own !== undefined) return own;
  const facts = factsOf(error);
  const inTool = facts.names.includes('ToolCallError') ? fieldOf(error, 'error') : undefined;
  if (inTool !== undefined && inTool !== error) return toAppError(inTool, context);

  const { kind, sentence, said, ...options } = describe(facts, context);
  const words = said === true ? oneLine(redactKeys(facts.said, context.apiKey), SAID_LENGTH) : '';
  const retryAfter = options.recoverable === false ? undefined : facts.retryAfter;
  return new AppError(kind, words === '' ? `${sentence}.` : `${sentence}: ${words.replace(/\.?$/, '.')}`, {
    ...options,
    ...(retryAfter !== undefined && (kind === 'rate_limit' || options.recoverable) && { retryAfter }),
    cause: withoutKeys(error, facts, context.apiKey),
  });
}

function describe(facts: FaultFacts, context: FaultContext): Description {
  const names = namesOf(context);
  if (isAbort(facts, context)) return { kind: 'interrupted', sentence: 'The run was interrupted' };
  const bySdk = describeSdkFault(facts);
  if (bySdk !== undefined) return bySdk;
  if (facts.status !== undefined && facts.status >= 400) return describeHttpFault(facts.status, facts, names);
  if (facts.names.includes('APIConnectionTimeoutError') || facts.names.includes('TimeoutError')) {
    return describeNetworkFault(facts.networkCode ?? 'ETIMEDOUT', names);
  }
  if (facts.networkCode !== undefined || facts.names.includes('APIConnectionError')) {
    return describeNetworkFault(facts.networkCode, names);
  }
  if (facts.names.includes('SyntaxError')) {
    return {
      kind: 'api_error',
      sentence: `${names.service} sent an answer that is not valid JSON`,
      recoverable: true,
    };
  }
  return { kind: 'api_error', sentence: `${names.service} could not answer`, said: true };
}

function isAbort({ names }: FaultFacts, { signal }: FaultContext): boolean {
  if (signal?.aborted) return fieldOf(signal.reason, 'name') !== 'TimeoutError';
  return names.includes('APIUserAbortError') || names.includes('AbortError');
}

function namesOf({ model, baseUrl, keyVariable }: FaultContext): Names {
  const host = baseUrl === undefined || !URL.canParse(baseUrl) ? undefined : new URL(baseUrl).host;
  return {
    service: host === undefined ? 'The model service' : `The model service at ${host}`,
    model: model === undefined ? 'the model' : `the model ${model}`,
    keyVariable: keyVariable ?? 'OPENAI_API_KEY',
  };
}

/** What `--verbose` prints. The error itself may quote the key, and carries the whole state of the run. */
function withoutKeys(error: unknown, { status, said }: FaultFacts, apiKey: string | undefined): Error {
  const cause = new Error(redactKeys(said, apiKey));
  const stack = error instanceof Error ? error.stack : undefined;
  if (stack !== undefined) cause.stack = redactKeys(stack, apiKey);
  return status === undefined ? cause : Object.assign(cause, { status });
}
