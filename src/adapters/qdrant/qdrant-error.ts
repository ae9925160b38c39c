import { advice, viaCommand } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { certificateHint, classifyNetworkCode, findNetworkCode } from '../../faults/network-errors.ts';
import { redactShownText } from '../../faults/redactor.ts';
import { parseRetryAfter } from '../../faults/retry.ts';
import { classifyHttpStatus } from '../../faults/service-errors.ts';
import { oneLine } from '../../text/visible-text.ts';

interface ErrorContext {
  server: string;
  collection: string | null;
  timeoutMs: number;
  apiKey: string | undefined;
  /** Keys of other services that the server might repeat. */
  secrets: readonly string[];
}

/** What the client throws for a response other than 2xx; it does not export the class. */
interface ApiError {
  status: number;
  headers: Headers;
  data: unknown;
}

/**
 * Converts what the client threw; `recoverable` if the same request may succeed later. Rethrows errors that do not come
 * from the server or the network.
 */
export function toQdrantError(thrown: unknown, context: ErrorContext): AppError {
  const { server, timeoutMs } = context;
  if (isApiError(thrown)) return toResponseError(thrown, context);
  const { name } = thrown as Error;
  // The client cannot parse a Retry-After that is a date.
  if (name === 'QdrantClientResourceExhaustedError' || /Invalid retryAfter/.test(messageOf(thrown))) {
    return rateLimitError(server, (thrown as { retry_after?: number }).retry_after);
  }
  if (isQdrantTimeout(thrown)) {
    const message = `The Qdrant server at ${server} did not answer within ${timeoutMs / 1000} seconds.`;
    const hint = 'Check its load, then run the same command again.';
    return new AppError('retrieval_error', message, { hint, recoverable: true });
  }
  const code = findNetworkCode(thrown);
  if (thrown instanceof TypeError && (code !== undefined || /fetch failed|terminated/.test(thrown.message))) {
    const reason = code ?? messageOf(thrown.cause ?? thrown);
    return new AppError('retrieval_error', `The Qdrant server at ${server} cannot be reached (${reason}).`, {
      hint:
        certificateHint(code) ??
        'Start it or check QDRANT_URL. Without QDRANT_URL, collections are stored in local files.',
      recoverable: classifyNetworkCode(code)?.duration !== 'lasting',
      cause: thrown,
    });
  }
  // Also an overloaded proxy that answers with text: the client reports only that it is not JSON.
  if (thrown instanceof SyntaxError || /uninitialized|Unexpected Response/.test(messageOf(thrown))) {
    return new AppError('retrieval_error', `The server at ${server} did not send a Qdrant response.`, {
      hint: 'Check that QDRANT_URL is the address of a Qdrant server, and any proxy in front of it.',
      recoverable: true,
    });
  }
  throw thrown;
}

export function isQdrantTimeout(thrown: unknown): boolean {
  return (thrown as Error).name === 'QdrantClientTimeoutError';
}

function toResponseError({ status, headers, data }: ApiError, context: ErrorContext): AppError {
  const { server, collection, apiKey, secrets } = context;
  const reason = reasonIn(data, [apiKey, ...secrets]);
  const { kind, transient } = classifyHttpStatus(status);
  if (kind === 'auth_error') {
    const problem =
      apiKey === undefined ? 'requires a key' : `did not accept the key${reason && ` (${reason})`}`;
    return new AppError('auth_error', `The Qdrant server at ${server} ${problem}.`, {
      hint: 'Set QDRANT_API_KEY to a key of this server, which permits writing if you ingest.',
    });
  }
  if (kind === 'rate_limit' && transient) return rateLimitError(server, parseRetryAfter(headers));
  if (status === 404 && collection !== null) {
    return missingCollectionError(collection, `is not on the Qdrant server at ${server}`);
  }
  const message = `The Qdrant server at ${server} answered with status ${status}${reason && `: ${reason}`}.`;
  return new AppError('retrieval_error', message, {
    hint: 'Check that its version is 1.16 or later, look at its log, then run the same command again.',
    recoverable: status >= 500,
    retryAfter: status >= 500 ? parseRetryAfter(headers) : undefined,
  });
}

export function missingCollectionError(name: string, problem: string): AppError {
  return new AppError('retrieval_error', `Collection "${name}" ${problem}.`, {
    hint: advice`List the collections${viaCommand('collections list')}`,
  });
}

function rateLimitError(server: string, retryAfter: number | undefined): AppError {
  const message = `The Qdrant server at ${server} receives too many requests.`;
  return new AppError('rate_limit', message, { recoverable: true, retryAfter });
}

/** The server's own words on one line, without keys. */
function reasonIn(data: unknown, secrets: readonly (string | undefined)[]): string {
  return oneLine(redactShownText(errorText({ data }), secrets), 160).replace(/[.!]$/, '');
}

/** The server's own words; empty if it sent none. */
export function errorText({ data }: Pick<ApiError, 'data'>): string {
  const { status } = (data ?? {}) as { status?: { error?: unknown } };
  return typeof data === 'string' ? data : String(status?.error ?? '');
}

export function isApiError(error: unknown): error is ApiError {
  const { status, headers } = (error ?? {}) as Partial<ApiError>;
  return typeof status === 'number' && headers !== undefined;
}
