import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Advice, advice, command, setting } from '../../faults/advice.ts';
import { AppError, type ErrorKind, messageOf } from '../../faults/app-error.ts';
import { httpFault } from '../../faults/http-fault.ts';
import { certificateHint, networkCodeOf, networkFault } from '../../faults/network-fault.ts';
import { redactKeys } from '../../faults/redact-keys.ts';
import { retryAfterOf } from '../../faults/retry-after.ts';
import { oneLine } from '../../text/visible-text.ts';

/** Where the runtime's own HTTP client tells of every answer. */
const CHANNEL = 'undici:request:headers';

/** That a server was too busy or failed. */
interface Refusal {
  status: number;
  /** Seconds to wait, if it said so. */
  retryAfter: number | undefined;
}

interface FaultContext {
  server: string;
  collection: string | null;
  timeoutMs: number;
  apiKey: string | undefined;
  /** The keys of other services, which the server may repeat but sentences must not. */
  secrets: readonly string[];
  /** What the server was heard to say, if it was too busy or failed: the client may not tell. */
  refusal: Refusal | null;
}

interface QdrantFault {
  fault: AppError;
  /** Whether the same request may succeed a moment later. */
  transient: boolean;
}

/** What the client throws for an answer other than 2xx. */
interface ApiError {
  status: number;
  headers: Headers;
  data: unknown;
}

/** What went wrong between us and the server, as a sentence with what to do. */
export function qdrantFault(error: unknown, context: FaultContext): QdrantFault {
  if (error instanceof AppError) return { fault: error, transient: false };
  const { server, timeoutMs, refusal } = context;
  if (isApiError(error)) return answerFault(error, context);
  if (refusal?.status === 429) return rateLimited(context, refusal.retryAfter);
  const name = (error as Error).name;
  if (name === 'QdrantClientTimeoutError') {
    return {
      fault: new AppError(
        'retrieval_error',
        `The Qdrant server at ${server} did not answer within ${timeoutMs / 1000} seconds.`,
        { hint: 'Check how busy it is, then run the same command again.', recoverable: true },
      ),
      transient: false,
    };
  }
  const code = networkCodeOf(error);
  if (error instanceof TypeError && (code !== undefined || /fetch failed|terminated/.test(error.message))) {
    return {
      fault: new AppError(
        'retrieval_error',
        `The Qdrant server at ${server} cannot be reached (${code ?? messageOf(error.cause ?? error)}).`,
        {
          hint:
            certificateHint(code) ??
            'Start it or check QDRANT_URL; without QDRANT_URL collections are kept in files of your own.',
          recoverable: isPassing(code),
          cause: error,
        },
      ),
      transient: isPassing(code),
    };
  }
  if (error instanceof SyntaxError && refusal !== null) return serverFault(refusal, '', context);
  if (error instanceof SyntaxError || /uninitialized|Unexpected Response/.test(messageOf(error))) {
    return { fault: unreadable(server), transient: false };
  }
  // A defect of ours stays one.
  throw error;
}

/** Whether the network may be well a moment later; what it did not name may. */
function isPassing(code: string | undefined): boolean {
  return networkFault(code)?.duration !== 'lasting';
}

/** An answer that is none of Qdrant's. */
function unreadable(server: string): AppError {
  return new AppError(
    'retrieval_error',
    `The server at ${server} gave an answer that cannot be read as one of Qdrant's.`,
    {
      hint: 'Check that QDRANT_URL is the address of a Qdrant server, and what stands between it and you.',
    },
  );
}

function answerFault({ status, headers, data }: ApiError, context: FaultContext): QdrantFault {
  const { server, collection, apiKey, secrets } = context;
  const said = saidBy(data, [apiKey, ...secrets]);
  const final = (as: ErrorKind, message: string, hint: string | Advice): QdrantFault => ({
    fault: new AppError(as, message, { hint }),
    transient: false,
  });
  const named = collection === null ? 'The collection' : `The collection "${collection}"`;
  const { kind, transient } = httpFault(status);
  if (kind === 'auth_error') {
    return apiKey === undefined
      ? final(
          'auth_error',
          `The Qdrant server at ${server} asks for a key.`,
          'Set QDRANT_API_KEY to the key of this server.',
        )
      : final(
          'auth_error',
          `The Qdrant server at ${server} did not accept the key${said && ` (${said})`}.`,
          'Check QDRANT_API_KEY: it must belong to this server, and be allowed to write if you ingest.',
        );
  }
  if (kind === 'rate_limit' && transient) return rateLimited(context, retryAfterOf(headers));
  if (status === 404 && collection !== null) {
    return final(
      'retrieval_error',
      `${named} is not on the Qdrant server at ${server}.`,
      advice`See what there is${command('collections list')}`,
    );
  }
  if (/dimension/i.test(said)) {
    return final(
      'configuration_error',
      `${named} holds vectors of another length (${said}).`,
      advice`Use the embedder it was made with, or choose another ${setting('collection')}.`,
    );
  }
  if (status >= 500) return serverFault({ status, retryAfter: retryAfterOf(headers) }, said, context);
  return final(
    'retrieval_error',
    `The Qdrant server at ${server} answered with ${status}${said && `: ${said}`}.`,
    'Check that its version is 1.16 or later, and look at its log.',
  );
}

function serverFault({ status, retryAfter }: Refusal, said: string, { server }: FaultContext): QdrantFault {
  return {
    transient: true,
    fault: new AppError(
      'retrieval_error',
      `The Qdrant server at ${server} answered with ${status}${said && `: ${said}`}.`,
      {
        hint: 'Look at its log, then run the same command again.',
        recoverable: true,
        ...(retryAfter !== undefined && { retryAfter }),
      },
    ),
  };
}

function rateLimited({ server }: FaultContext, retryAfter: number | undefined): QdrantFault {
  return {
    transient: true,
    fault: new AppError('rate_limit', `The Qdrant server at ${server} is receiving too many requests.`, {
      ...(retryAfter !== undefined && { retryAfter }),
    }),
  };
}

/** Its own words, cut to a line and without any key, should it repeat one. */
function saidBy(data: unknown, secrets: readonly (string | undefined)[]): string {
  const { status } = (data ?? {}) as { status?: { error?: unknown } };
  const text = typeof data === 'string' ? data : String(status?.error ?? '');
  return oneLine(redactKeys(text, secrets), 160).replace(/[.!]$/, '');
}

function isApiError(error: unknown): error is ApiError {
  const { status, headers } = (error ?? {}) as Partial<ApiError>;
  return typeof status === 'number' && headers !== undefined;
}

/**
 * Listens for a 429 or 5xx of a server while a request is under way, since the client hides what came with it:
 * of `Retry-After` it keeps the first digit, so that 30 seconds become 3, and of a 503 with a text in place of
 * JSON nothing but the text that it could not read.
 */
export function hearRefusal({ origin }: { origin: string }): { last(): Refusal | null; stop(): void } {
  const watched = new URL(origin).origin;
  let heard: Refusal | null = null;

  function listen(message: unknown): void {
    const { request, response } = message as {
      request: { origin: string | URL };
      response: { statusCode: number; headers: Buffer[] };
    };
    const { statusCode: status } = response;
    if ((status !== 429 && status < 500) || new URL(request.origin).origin !== watched) return;
    heard = { status, retryAfter: retryAfterOf(headersOf(response.headers.map(String))) };
  }

  subscribe(CHANNEL, listen);
  return { last: () => heard, stop: () => void unsubscribe(CHANNEL, listen) };
}

/** Names and values alternate as they arrive. */
function headersOf(pairs: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < pairs.length; at += 2) headers.append(pairs[at] ?? '', pairs[at + 1] ?? '');
  return headers;
}
