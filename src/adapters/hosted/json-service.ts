import { AppError } from '../../faults/app-error.ts';
import { networkCodeOf } from '../../faults/network-fault.ts';
import { redactKeys } from '../../faults/redactor.ts';
import { retryAfterOf } from '../../faults/retry.ts';
import {
  type Description,
  describeHttpFault,
  describeNetworkFault,
  describeNoCredit,
  lowered,
  serviceFault,
} from '../../faults/service-fault.ts';

/** A hosted service as sentences name it, and what they must never show. */
export interface Service {
  /** "Cohere", or "The embedding service at localhost:11434". */
  name: string;
  model: string;
  apiKey: string | undefined;
  /** The keys of other services, which this one may repeat but sentences must not. */
  secrets?: readonly string[] | undefined;
  /** Where the person sets the key. */
  keyVariable: string;
  /** For one request, until the last byte of its answer. */
  timeoutMs: number;
}

/** Throws what is wrong with the settings of a service, before a request could show the key in its own error. */
export function checkAccess({ name, apiKey, keyVariable }: Service, baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new AppError('configuration_error', `The address of ${lowered(name)} is not usable.`, {
      hint: 'Give an http or https URL without a user name or a password.',
    });
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new AppError(
      'auth_error',
      `The key for ${lowered(name)} is empty or holds spaces or odd characters.`,
      {
        hint: `Check ${keyVariable} in the environment or in .env: it must be the key alone.`,
      },
    );
  }
}

/** Limits are counted by the minute: after half a second nothing would have changed. */
export function firstWaitMs({ kind }: AppError): number {
  return kind === 'rate_limit' ? 4000 : 500;
}

/** Services refuse a blank text, which must still have a vector. */
const BLANK = '.';

/** A text as every service takes it: whole characters, no NUL, not blank. */
export function sendableText(text: string): string {
  const clean = text.toWellFormed().replaceAll('\0', ' ');
  return clean.trim() === '' ? BLANK : clean;
}

interface JsonRequest {
  url: string;
  headers: Record<string, string>;
  body: unknown;
  signal?: AbortSignal | undefined;
}

/**
 * One request, one attempt. Throws the signal's reason when it is raised, and AppErrors otherwise. The time limit
 * covers the body too, and its timer keeps no process alive.
 */
export async function postJson(request: JsonRequest, service: Service): Promise<unknown> {
  const { signal } = request;
  signal?.throwIfAborted();
  const limit = AbortSignal.timeout(service.timeoutMs);
  const answer = await send(request, signal === undefined ? limit : AbortSignal.any([signal, limit])).catch(
    (error: unknown) => {
      signal?.throwIfAborted();
      throw noAnswer(error, service);
    },
  );
  if (answer.status < 200 || answer.status >= 300) throw refusal(answer, service);
  try {
    return JSON.parse(answer.text) as unknown;
  } catch {
    throw unusableAnswer(service, 'it is not valid JSON');
  }
}

/** An answer that came, but not as it was promised. A retry may find a server that is whole. */
export function unusableAnswer({ name }: Service, fault: string, recoverable = true): AppError {
  return new AppError('api_error', `The answer of ${lowered(name)} cannot be used: ${fault}.`, {
    recoverable,
    hint: 'Check that the base URL and the model belong together, or try again in a while.',
  });
}

interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

async function send({ url, headers, body }: JsonRequest, signal: AbortSignal): Promise<HttpAnswer> {
  // Looked up at each call, so that whoever replaces the global one is obeyed.
  const response = await globalThis.fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Only the code of a fault of the network is told: its message may quote headers. */
function noAnswer(error: unknown, { name, keyVariable, timeoutMs }: Service): AppError {
  // A replay that has no answer says so itself.
  if (error instanceof AppError) return error;
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new AppError('api_error', `${name} did not answer within ${timeoutMs / 1000} seconds.`, {
      recoverable: true,
      hint: 'Try again in a while, or allow more time.',
    });
  }
  const { kind, sentence, ...options } = describeNetworkFault(networkCodeOf(error), {
    service: name,
    keyVariable,
  });
  return new AppError(kind, `${sentence}.`, options);
}

const NO_MODEL =
  /model_not_found|(unknown|invalid|unsupported|no such) model|no models? loaded|model\b.{0,120}(not found|not exist|not available|not supported|decommissioned|removed)|support embeddings?\b|embeddings? from this model/i;

/** What an answer with a status other than 2xx means, in a sentence without any key. */
function refusal({ status, headers, text }: HttpAnswer, service: Service): AppError {
  const said = saidIn(text);
  const secrets = [service.apiKey, ...(service.secrets ?? [])];
  return serviceFault(describeRefusal(status, `${text.slice(0, 2000)} ${said}`, service), {
    said,
    secrets,
    retryAfter: retryAfterOf(headers),
    cause: Object.assign(new Error(redactKeys(said, secrets)), { status }),
  });
}

function describeRefusal(
  status: number,
  text: string,
  { name: service, model, keyVariable }: Service,
): Description {
  const names = { service, keyVariable };
  if (status !== 429 && status < 500 && status !== 401 && NO_MODEL.test(text)) {
    return {
      kind: 'configuration_error',
      sentence: `${service} has no model ${model} for this`,
      said: true,
      hint: 'Check the name of the model; a local one must be pulled or loaded first.',
    };
  }
  const noCredit = describeNoCredit(status, text, names);
  if (noCredit !== undefined) return noCredit;
  const fault = describeHttpFault(status, names);
  if (fault.kind === 'configuration_error') {
    return { ...fault, hint: 'Check the base URL; for most OpenAI-compatible services it ends in /v1.' };
  }
  if (fault.kind !== 'api_error') return fault;
  const numbered =
    status === 503 || status === 529 ? fault : { ...fault, sentence: `${fault.sentence} (${status})` };
  if (fault.recoverable !== true) return numbered;
  return { ...numbered, hint: 'Try again in a while; what was done before is kept.' };
}

/** The message inside the JSON of a service, or its plain text; nothing of a web page. */
function saidIn(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    return messageIn(body) ?? '';
  } catch {
    return /^\s*</.test(text) ? '' : text;
  }
}

function messageIn(body: unknown): string | undefined {
  if (typeof body === 'string') return body;
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, message, detail } = body as Record<string, unknown>;
  return messageIn(error) ?? messageIn(message) ?? messageIn(detail);
}
