import { AppError } from '../../faults/app-error.ts';
import { findNetworkCode } from '../../faults/network-errors.ts';
import { redactShownText } from '../../faults/redactor.ts';
import { parseRetryAfter, type RetryOptions, retryOnError } from '../../faults/retry.ts';
import {
  createServiceError,
  describeHttpError,
  describeNetworkError,
  describeNoCredit,
  type ErrorDescription,
  toMidSentence,
} from '../../faults/service-errors.ts';
import { parseJson } from '../../text/parse-json.ts';
import { parseWireError } from '../openai/wire/wire-error.ts';

/** A hosted service, for its requests and its error messages. */
export interface HostedService {
  /** "Cohere", or "The embedding service at localhost:11434". */
  name: string;
  model: string;
  apiKey: string | undefined;
  /** The keys of other services, which are removed from error messages too. */
  secrets?: readonly string[] | undefined;
  keyVariable: string;
  /** For one request including its response body. */
  timeoutMs: number;
}

/** Throws for an unusable URL or key, before an error of `fetch` could show the key. */
export function assertValidAccess({ name, apiKey, keyVariable }: HostedService, baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new AppError('configuration_error', `The URL of ${toMidSentence(name)} is invalid.`, {
      hint: 'Use an http or https URL without a user name or password.',
    });
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new AppError(
      'auth_error',
      `The key for ${toMidSentence(name)} is empty or has invalid characters.`,
      {
        hint: `Check ${keyVariable} in the environment or in .env.`,
      },
    );
  }
}

/** Rate limits count by the minute, so their first retry waits longer. */
export function retryRequest<T>(request: () => Promise<T>, options: RetryOptions): Promise<T> {
  const firstWaitMs = ({ kind }: AppError) => (kind === 'rate_limit' ? 4000 : 500);
  return retryOnError(request, { firstWaitMs, ...options });
}

/** A text that all services accept: well-formed, without NUL, not blank, because each chunk needs a vector. */
export function toSendableText(text: string): string {
  const clean = text.toWellFormed().replaceAll('\0', ' ');
  return clean.trim() === '' ? '.' : clean;
}

interface JsonRequest {
  url: string;
  headers: Record<string, string>;
  body: unknown;
  signal?: AbortSignal | undefined;
}

/**
 * Sends one request without retries. Throws the signal's reason if it is aborted, and AppErrors otherwise. The timeout
 * includes the response body, and its timer does not keep the process alive.
 */
export async function postJson(request: JsonRequest, service: HostedService): Promise<unknown> {
  const { signal } = request;
  signal?.throwIfAborted();
  const { response, text } = await send(request, service).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw toNetworkError(error, service);
  });
  if (!response.ok) throw toStatusError(response, text, service);
  const answer = parseJson(text);
  if (answer === undefined) throw unusableAnswer(service, 'it is not valid JSON');
  return answer;
}

export function unusableAnswer({ name }: HostedService, reason: string, recoverable = true): AppError {
  return new AppError('api_error', `The answer of ${toMidSentence(name)} cannot be used: ${reason}.`, {
    recoverable,
    hint: 'Check the base URL and the model, or try again later.',
  });
}

async function send({ url, headers, body, signal }: JsonRequest, { timeoutMs }: HostedService) {
  // Looked up at each call, because recording and tests replace the global fetch.
  const response = await globalThis.fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
  });
  return { response, text: await response.text() };
}

/** Shows only the code of a network error, because its message may contain headers. */
function toNetworkError(error: unknown, { name, keyVariable, timeoutMs }: HostedService): AppError {
  // Thrown by a replay for a request that is not on the tape.
  if (error instanceof AppError) return error;
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new AppError('api_error', `${name} did not answer within ${timeoutMs / 1000} seconds.`, {
      recoverable: true,
      hint: 'Try again later.',
    });
  }
  const { kind, sentence, ...options } = describeNetworkError(findNetworkCode(error), {
    service: name,
    keyVariable,
  });
  return new AppError(kind, `${sentence}.`, options);
}

const NO_MODEL =
  /model_not_found|(unknown|invalid|unsupported|no such) model|no models? loaded|model\b.{0,120}(not found|not exist|not available|not supported|decommissioned|removed)|support embeddings?\b|embeddings? from this model/i;

/** The error for a status other than 2xx; its message contains no key. */
function toStatusError({ status, headers }: Response, text: string, service: HostedService): AppError {
  const said = findMessageText(text, status);
  const secrets = [service.apiKey, ...(service.secrets ?? [])];
  return createServiceError(describeStatus(status, `${text.slice(0, 2000)} ${said}`, service), {
    serviceMessage: said,
    secrets,
    retryAfter: parseRetryAfter(headers),
    cause: Object.assign(new Error(redactShownText(said, secrets)), { status }),
  });
}

function describeStatus(
  status: number,
  text: string,
  { name: service, model, keyVariable }: HostedService,
): ErrorDescription {
  const names = { service, keyVariable };
  if (status !== 429 && status < 500 && status !== 401 && NO_MODEL.test(text)) {
    return {
      kind: 'configuration_error',
      sentence: `${service} does not offer the model ${model} for this`,
      includeMessage: true,
      hint: 'Check the name of the model. A local model must be pulled or loaded first.',
    };
  }
  const noCredit = describeNoCredit(status, text, names);
  if (noCredit !== undefined) return noCredit;
  const fault = describeHttpError(status, names);
  if (fault.kind === 'configuration_error') {
    return { ...fault, hint: 'Check the base URL: for most OpenAI-compatible services it ends in /v1.' };
  }
  if (fault.kind !== 'api_error') return fault;
  const numbered =
    status === 503 || status === 529 ? fault : { ...fault, sentence: `${fault.sentence} (${status})` };
  if (fault.recoverable !== true) return numbered;
  return { ...numbered, hint: 'Try again later. Completed work is kept.' };
}

/** The message in a JSON body, or a plain-text body; empty for a web page. */
function findMessageText(text: string, status: number): string {
  const body = parseJson(text);
  if (body === undefined) return /^\s*</.test(text) ? '' : text;
  return typeof body === 'string' ? body : (parseWireError(body, status)?.message ?? '');
}
