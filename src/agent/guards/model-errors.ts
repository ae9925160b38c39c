import { advice, settingName, settingValue } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { errorCauses, findNetworkCode, getField } from '../../faults/network-errors.ts';
import { redactShownText } from '../../faults/redactor.ts';
import { parseRetryAfter } from '../../faults/retry.ts';
import {
  createServiceError,
  describeHttpError,
  describeNetworkError,
  describeNoCredit,
  type ErrorDescription,
  type ServiceNames,
} from '../../faults/service-errors.ts';

/** What error messages about the model name, and the secrets they must not contain. */
export interface ModelErrorContext {
  model?: string | undefined;
  baseUrl?: string | undefined;
  /** All configured keys; they are removed from what services send back. */
  secrets?: readonly string[] | undefined;
  /** The variable that holds the key; OPENAI_API_KEY by default. */
  keyVariable?: string | undefined;
  /** After it is aborted, any error counts as an interruption. */
  signal?: AbortSignal | undefined;
}

/**
 * Turns anything that a model, its client or the SDK threw into an AppError without keys. An AppError is returned
 * unchanged, also from inside a wrapper.
 */
export function toAppError(error: unknown, context: ModelErrorContext = {}): AppError {
  const own = errorCauses(error).find((each) => each instanceof AppError);
  if (own !== undefined) return own;
  const details = readErrorDetails(error);
  const inTool = details.names.includes('ToolCallError') ? getField(error, 'error') : undefined;
  if (inTool !== undefined && inTool !== error) return toAppError(inTool, context);

  return createServiceError(describeError(details, context), {
    serviceMessage: details.message,
    secrets: context.secrets ?? [],
    retryAfter: details.retryAfter,
    cause: redactedCause(error, details, context.secrets),
  });
}

type ErrorDetails = ReturnType<typeof readErrorDetails>;

function readErrorDetails(error: unknown) {
  const body = getField(error, 'error');
  const codes = ['code', 'type', 'param'].map((key) => getField(error, key) ?? getField(body, key));
  const messages = [getField(body, 'message'), body, getField(error, 'message'), error];
  const message = messages.find((each) => typeof each === 'string' && each !== '') as string | undefined;
  const statuses = [getField(error, 'status'), getField(body, 'status')];
  return {
    /** Class names along the chain of causes; the client's errors all have the name "Error". */
    names: errorCauses(error).flatMap(classNames),
    /** HTTP status, also of an error event inside a stream. */
    status: statuses.find((each) => typeof each === 'number'),
    code: codes.filter((each) => each !== undefined && each !== null).join(' '),
    message: (message ?? '').replace(/^\d{3} (?=\S)/, ''),
    /** Of the network or TLS, such as ECONNREFUSED. */
    networkCode: findNetworkCode(error),
    retryAfter: parseRetryAfter(getField(error, 'headers'), getField(body, 'retryAfter'), message ?? ''),
  };
}

/** Bundlers add `$1` to the second of two classes with the same name. */
function classNames(value: unknown): string[] {
  return [getField(value, 'name'), getField(getField(value, 'constructor'), 'name')]
    .filter((name) => typeof name === 'string')
    .map((name) => name.replace(/\$\d+$/, ''));
}

interface ModelNames extends ServiceNames {
  /** "the model llama". */
  model: string;
}

function describeError(details: ErrorDetails, context: ModelErrorContext): ErrorDescription {
  const names = namesOf(context);
  const { status, networkCode } = details;
  const is = (name: string) => details.names.includes(name);
  if (isAbort(details, context)) return { kind: 'interrupted', sentence: 'The run was interrupted' };
  const sdkError = describeSdkError(details);
  if (sdkError !== undefined) return sdkError;
  if (status !== undefined && status >= 400) return describeStatus(status, details, names);
  if (is('APIConnectionTimeoutError') || is('TimeoutError'))
    return describeNetworkError(networkCode ?? 'ETIMEDOUT', names);
  if (networkCode !== undefined || is('APIConnectionError')) return describeNetworkError(networkCode, names);
  if (is('SyntaxError')) {
    const sentence = `${names.service} sent an answer that is not valid JSON`;
    return { kind: 'api_error', sentence, recoverable: true };
  }
  return { kind: 'api_error', sentence: `${names.service} could not answer`, includeMessage: true };
}

function isAbort({ names }: ErrorDetails, { signal }: ModelErrorContext): boolean {
  return signal?.aborted || names.includes('APIUserAbortError') || names.includes('AbortError');
}

function namesOf({ model, baseUrl, keyVariable }: ModelErrorContext): ModelNames {
  const host = baseUrl === undefined || !URL.canParse(baseUrl) ? undefined : new URL(baseUrl).host;
  return {
    service: host === undefined ? 'The model service' : `The model service at ${host}`,
    model: model === undefined ? 'the model' : `the model ${model}`,
    keyVariable: keyVariable ?? 'OPENAI_API_KEY',
  };
}

const ASK_AGAIN = 'Ask again, or use another model.';

/** An error that the SDK's loop throws about the model's behaviour; undefined for any other. */
function describeSdkError({ names, message }: ErrorDetails): ErrorDescription | undefined {
  const is = (name: string) => names.includes(name);
  if (is('MaxTurnsExceededError')) {
    return {
      kind: 'api_error',
      sentence: 'The model kept calling tools and did not answer',
      hint: advice`Ask a narrower question, or raise ${settingName('maxSteps')}.`,
    };
  }
  if (is('ModelRefusalError')) {
    return {
      kind: 'api_error',
      sentence: 'The model declined to answer',
      includeMessage: true,
      hint: 'Rephrase the question.',
    };
  }
  if (is('ModelTimeoutError'))
    return { kind: 'api_error', sentence: 'The model took too long to answer', recoverable: true };
  if (!is('ModelBehaviorError') && !is('InvalidToolInputError')) return undefined;
  if (/finish_reason='length'|response\.incomplete/.test(message)) {
    return {
      kind: 'api_error',
      sentence: 'The model reached its token limit before it had an answer',
      hint: advice`Raise ${settingName('maxTokens')}.`,
    };
  }
  const retry = { kind: 'api_error', recoverable: true, hint: ASK_AGAIN } as const;
  const tool = /tool (\S+) not found/i.exec(message)?.[1];
  if (tool !== undefined)
    return { ...retry, sentence: `The model called a tool that does not exist, ${tool}` };
  if (/JSON|invalid (tool )?input/i.test(message))
    return { ...retry, sentence: 'The model called a tool with arguments that are not valid JSON' };
  if (/did not produce a final response|no final output/i.test(message))
    return { ...retry, sentence: 'The model ended without an answer' };
  return { ...retry, sentence: 'The model did not follow the protocol', includeMessage: true };
}

const OVERFLOW =
  /context_length_exceeded|maximum context length|context (length|window|size)|prompt is too long|too many (input )?tokens|reduce (the|your) (length|message|prompt)|input token count|(input|prompt|tokens?)\b.{0,60}\bexceeds?\b.{0,60}\b(context|tokens?|maximum|limit)|longer than the model'?s/i;
/** More tokens than the service allows per minute: waiting does not help. */
const TOO_LARGE = /request too large/i;
const NO_MODEL =
  /model_not_found|(not a valid|invalid|unknown|no such|unsupported) model|no models? loaded|model\b.{0,120}(not found|does not exist|not exist|not available|decommissioned|no endpoints)|no endpoints found/i;
const NO_TOOLS =
  /(not|n't) support (tools?|tool[_ ](use|calling)|function calling)|support tool use|tool[_ ]choice.{0,40}(requires|--enable)/i;
const BAD_CALL = /tool_use_failed|failed to call a function|tool call validation failed/i;
const FILTERED = /content_filter|content[_ ]policy|content management policy|moderation/i;
const OVERLOADED = /overload|capacity|try again later/i;

/** Describes an HTTP status of 400 or above; what the service says about it takes precedence. */
function describeStatus(
  status: number,
  { code, message }: Pick<ErrorDetails, 'code' | 'message'>,
  names: ModelNames,
): ErrorDescription {
  const { service, model } = names;
  const text = `${code} ${message}`;
  if (status < 500) {
    if (status === 413 || TOO_LARGE.test(text) || (status !== 429 && OVERFLOW.test(text)))
      return {
        kind: 'context_overflow',
        sentence: `The request is too long for ${model}`,
        includeMessage: true,
      };
    const noCredit = describeNoCredit(status, text, names);
    if (noCredit !== undefined) return noCredit;
    if (BAD_CALL.test(text)) {
      return {
        kind: 'api_error',
        sentence: 'The model made a tool call that its service rejects',
        includeMessage: true,
        recoverable: true,
        hint: 'Ask again, or use a model that is better at calling tools.',
      };
    }
    if (NO_TOOLS.test(text)) {
      return {
        kind: 'configuration_error',
        sentence: `${model.replace(/^t/, 'T')} cannot call tools`,
        includeMessage: true,
        hint: advice`Use a model that can, or ${settingValue('policy', 'always', 'the policy always')}, which needs no tools.`,
      };
    }
    if (status !== 429 && NO_MODEL.test(text)) {
      return {
        kind: 'configuration_error',
        sentence: `${service} does not know ${model}`,
        includeMessage: true,
        hint: advice`Check ${settingName('model', 'the setting model')} or OPENAI_MODEL; a local model must be pulled or loaded first.`,
      };
    }
    if (FILTERED.test(text)) {
      return {
        kind: 'api_error',
        sentence: `${service} withheld an answer`,
        includeMessage: true,
        hint: 'Rephrase the question.',
      };
    }
  }
  const description = describeHttpError(status, names);
  if (description.kind === 'configuration_error') {
    return {
      ...description,
      hint: advice`Check the base URL (for most services it ends in /v1), and ${settingName('api', 'the setting api')}: many services support only chat_completions.`,
    };
  }
  const isOverloaded = description.kind === 'api_error' && OVERLOADED.test(text);
  return isOverloaded ? describeHttpError(503, names) : description;
}

/** The cause that `--verbose` prints: message and stack without keys. The original may hold a key and the whole run. */
function redactedCause(
  error: unknown,
  { status, message }: ErrorDetails,
  secrets: readonly string[] | undefined,
): Error {
  const cause = new Error(redactShownText(message, secrets));
  const stack = error instanceof Error ? error.stack : undefined;
  if (stack !== undefined) cause.stack = redactShownText(stack, secrets);
  return status === undefined ? cause : Object.assign(cause, { status });
}
