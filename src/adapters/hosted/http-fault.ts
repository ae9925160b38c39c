import { AppError } from '../../domain/app-error.ts';
import { redactKeys } from '../../domain/redact-keys.ts';
import { retryAfterOf } from '../../domain/retry-after.ts';
import { oneLine } from '../../domain/visible-text.ts';
import { lowered, type Service } from './service.ts';

const NO_MODEL =
  /model_not_found|(unknown|invalid|unsupported|no such) model|no models? loaded|model\b.{0,120}(not found|not exist|not available|not supported|decommissioned|removed)|support embeddings?\b|embeddings? from this model/i;
const NO_CREDIT =
  /insufficient[_ ](quota|credits?|balance|funds)|billing_(not_active|hard_limit)|credit balance/i;
const SAID_LENGTH = 300;

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** What an answer with a status of 400 or above means, in a sentence without any key. */
export function httpFault(answer: HttpAnswer, service: Service): AppError {
  const { status } = answer;
  const said = oneLine(redactKeys(saidIn(answer.text), service.apiKey), SAID_LENGTH);
  const { kind, sentence, ...options } = describe(status, `${answer.text.slice(0, 2000)} ${said}`, service);
  return new AppError(kind, said === '' ? `${sentence}.` : `${sentence}: ${said.replace(/\.?$/, '.')}`, {
    ...options,
    ...waitOf(answer, options.recoverable ?? kind === 'rate_limit'),
    cause: Object.assign(new Error(said), { status }),
  });
}

type Description = Pick<AppError, 'kind'> & { sentence: string; hint?: string; recoverable?: boolean };

function describe(status: number, text: string, service: Service): Description {
  const { name, model, keyVariable } = service;
  const transient = status === 429 || status >= 500;
  if (!transient && status !== 401 && NO_MODEL.test(text)) {
    return {
      kind: 'configuration_error',
      sentence: `${name} has no model ${model} for this`,
      hint: 'Check the name of the model; a local one must be pulled or loaded first.',
    };
  }
  if (status === 402 || (status < 500 && NO_CREDIT.test(text))) {
    return {
      kind: 'rate_limit',
      sentence: `The account at ${lowered(name)} has no credit left`,
      hint: 'Look at the plan and the billing of the account.',
      recoverable: false,
    };
  }
  // 498 is Cohere's word for a key that is no longer valid.
  if (status === 401 || status === 403 || status === 498) {
    return {
      kind: 'auth_error',
      sentence: `${name} ${status === 403 ? 'denied access' : 'did not accept the key'}`,
      hint: `Check ${keyVariable} in the environment or in .env, and that it belongs to this service.`,
    };
  }
  if (status === 404 || status === 405) {
    return {
      kind: 'configuration_error',
      sentence: `${name} has nothing at this address`,
      hint: 'Check the base URL; for most OpenAI-compatible services it ends in /v1.',
    };
  }
  if (status === 429) return { kind: 'rate_limit', sentence: `${name} is receiving too many requests` };
  if (transient || status === 408 || status === 409 || status === 425) {
    return {
      kind: 'api_error',
      sentence: `${name} ${status === 503 || status === 529 ? 'is overloaded' : `failed (${status})`}`,
      hint: 'Try again in a while; what was done before is kept.',
      recoverable: true,
    };
  }
  return {
    kind: 'api_error',
    sentence: `${name} did not accept the request (${status})`,
    hint: 'Check the model and its settings with: citeloop doctor',
  };
}

function waitOf({ headers }: HttpAnswer, recoverable: boolean): { retryAfter?: number } {
  const retryAfter = recoverable ? retryAfterOf(headers) : undefined;
  return retryAfter === undefined ? {} : { retryAfter };
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
