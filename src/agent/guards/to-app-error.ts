import { AppError } from '../../faults/app-error.ts';
import { causesOf, fieldOf } from '../../faults/network-fault.ts';
import { redactKeys } from '../../faults/redact-keys.ts';
import { type Description, describeNetworkFault, serviceFault } from '../../faults/service-fault.ts';
import { describeRefusal, describeSdkFault, type ModelNames } from './describe-model-fault.ts';
import { type FaultFacts, factsOf } from './fault-facts.ts';

/** What the sentences about a fault name, and what they must never show. */
export interface FaultContext {
  model?: string | undefined;
  baseUrl?: string | undefined;
  /** The configured keys, of whichever service; they are removed from whatever one sends back. */
  secrets?: readonly string[] | undefined;
  /** Where the person sets the key; OPENAI_API_KEY unless given. */
  keyVariable?: string | undefined;
  /** Raised by the person; whatever fails after that counts as interrupted. */
  signal?: AbortSignal | undefined;
}

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

  return serviceFault(describe(facts, context), {
    said: facts.said,
    secrets: context.secrets ?? [],
    retryAfter: facts.retryAfter,
    cause: withoutKeys(error, facts, context.secrets),
  });
}

function describe(facts: FaultFacts, context: FaultContext): Description {
  const names = namesOf(context);
  if (isAbort(facts, context)) return { kind: 'interrupted', sentence: 'The run was interrupted' };
  const bySdk = describeSdkFault(facts);
  if (bySdk !== undefined) return bySdk;
  if (facts.status !== undefined && facts.status >= 400) return describeRefusal(facts.status, facts, names);
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

function namesOf({ model, baseUrl, keyVariable }: FaultContext): ModelNames {
  const host = baseUrl === undefined || !URL.canParse(baseUrl) ? undefined : new URL(baseUrl).host;
  return {
    service: host === undefined ? 'The model service' : `The model service at ${host}`,
    model: model === undefined ? 'the model' : `the model ${model}`,
    keyVariable: keyVariable ?? 'OPENAI_API_KEY',
  };
}

/** What `--verbose` prints. The error itself may quote the key, and carries the whole state of the run. */
function withoutKeys(
  error: unknown,
  { status, said }: FaultFacts,
  secrets: readonly string[] | undefined,
): Error {
  const cause = new Error(redactKeys(said, secrets));
  const stack = error instanceof Error ? error.stack : undefined;
  if (stack !== undefined) cause.stack = redactKeys(stack, secrets);
  return status === undefined ? cause : Object.assign(cause, { status });
}
