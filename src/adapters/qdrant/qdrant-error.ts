import { type Advice, advice, viaCommand } from '../../faults/advice.ts';
import { AppError, type ErrorKind, messageOf } from '../../faults/app-error.ts';
import { certificateHint, classifyNetworkCode, findNetworkCode } from '../../faults/network-errors.ts';
import { redactKeys } from '../../faults/redactor.ts';
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

interface QdrantError {
  error: AppError;
  /** Whether the same request may succeed a moment later. */
  isTransient: boolean;
}

/** What the client throws for a response other than 2xx; it does not export the class. */
interface ApiError {
  status: number;
  headers: Headers;
  data: unknown;
}

/** Converts what the client threw. Rethrows errors that do not come from the server or the network. */
export function toQdrantError(thrown: unknown, context: ErrorContext): QdrantError {
  if (thrown instanceof AppError) return { error: thrown, isTransient: false };
  const { server, timeoutMs } = context;
  if (isApiError(thrown)) return toResponseError(thrown, context);
  const { name } = thrown as Error;
  // The client cannot parse a Retry-After that is a date.
  if (name === 'QdrantClientResourceExhaustedError' || /Invalid retryAfter/.test(messageOf(thrown))) {
    return rateLimited(server, (thrown as { retry_after?: number }).retry_after);
  }
  if (name === 'QdrantClientTimeoutError') {
    const message = `The Qdrant server at ${server} did not answer within ${timeoutMs / 1000} seconds.`;
    const hint = 'Check its load, then run the same command again.';
    return {
      error: new AppError('retrieval_error', message, { hint, recoverable: true }),
      isTransient: false,
    };
  }
  const code = findNetworkCode(thrown);
  if (thrown instanceof TypeError && (code !== undefined || /fetch failed|terminated/.test(thrown.message))) {
    const isTransient = classifyNetworkCode(code)?.duration !== 'lasting';
    const reason = code ?? messageOf(thrown.cause ?? thrown);
    const message = `The Qdrant server at ${server} cannot be reached (${reason}).`;
    const hint =
      certificateHint(code) ??
      'Start it or check QDRANT_URL. Without QDRANT_URL, collections are stored in local files.';
    const options = { hint, recoverable: isTransient, cause: thrown };
    return { error: new AppError('retrieval_error', message, options), isTransient };
  }
  // Also an overloaded proxy that answers with text: the client reports only that it is not JSON.
  if (thrown instanceof SyntaxError || /uninitialized|Unexpected Response/.test(messageOf(thrown))) {
    return {
      error: new AppError('retrieval_error', `The server at ${server} did not send a Qdrant response.`, {
        hint: 'Check that QDRANT_URL is the address of a Qdrant server, and any proxy in front of it.',
        recoverable: true,
      }),
      isTransient: true,
    };
  }
  throw thrown;
}

function toResponseError({ status, headers, data }: ApiError, context: ErrorContext): QdrantError {
  const { server, collection, apiKey, secrets } = context;
  const reason = reasonIn(data, [apiKey, ...secrets]);
  const lasting = (as: ErrorKind, message: string, hint: string | Advice): QdrantError => ({
    error: new AppError(as, message, { hint }),
    isTransient: false,
  });
  const { kind, transient } = classifyHttpStatus(status);
  if (kind === 'auth_error') {
    const [problem, hint] =
      apiKey === undefined
        ? ['requires a key', 'Set QDRANT_API_KEY to the key of this server.']
        : [
            `did not accept the key${reason && ` (${reason})`}`,
            'Check that QDRANT_API_KEY belongs to this server, and permits writing if you ingest.',
          ];
    return lasting('auth_error', `The Qdrant server at ${server} ${problem}.`, hint);
  }
  if (kind === 'rate_limit' && transient) return rateLimited(server, parseRetryAfter(headers));
  if (status === 404 && collection !== null) {
    return lasting(
      'retrieval_error',
      `Collection "${collection}" is not on the Qdrant server at ${server}.`,
      advice`List the collections${viaCommand('collections list')}`,
    );
  }
  const message = `The Qdrant server at ${server} answered with status ${status}${reason && `: ${reason}`}.`;
  if (status < 500) {
    const hint = 'Check that its version is 1.16 or later, and look at its log.';
    return lasting('retrieval_error', message, hint);
  }
  const retryAfter = parseRetryAfter(headers);
  return {
    isTransient: true,
    error: new AppError('retrieval_error', message, {
      hint: 'Look at its log, then run the same command again.',
      recoverable: true,
      ...(retryAfter !== undefined && { retryAfter }),
    }),
  };
}

function rateLimited(server: string, retryAfter: number | undefined): QdrantError {
  return {
    isTransient: true,
    error: new AppError('rate_limit', `The Qdrant server at ${server} receives too many requests.`, {
      ...(retryAfter !== undefined && { retryAfter }),
    }),
  };
}

/** The server's own words on one line, without keys. */
function reasonIn(data: unknown, secrets: readonly (string | undefined)[]): string {
  const { status } = (data ?? {}) as { status?: { error?: unknown } };
  const text = typeof data === 'string' ? data : String(status?.error ?? '');
  return oneLine(redactKeys(text, secrets), 160).replace(/[.!]$/, '');
}

function isApiError(error: unknown): error is ApiError {
  const { status, headers } = (error ?? {}) as Partial<ApiError>;
  return typeof status === 'number' && headers !== undefined;
}
