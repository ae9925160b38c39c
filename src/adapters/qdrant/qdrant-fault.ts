import { AppError, type ErrorKind, messageOf } from '../../domain/app-error.ts';
import { retryAfterOf } from '../../domain/retry-after.ts';
import { oneLine } from '../../domain/visible-text.ts';
import type { Refusal } from './hear-refusal.ts';

export interface FaultContext {
  server: string;
  collection: string | null;
  timeoutMs: number;
  apiKey: string | undefined;
  /** What the server was heard to say, if it was too busy or failed: the client may not tell. */
  refusal: Refusal | null;
}

export interface QdrantFault {
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
  // `fetch` wraps what the network said.
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  if (error instanceof TypeError && (code !== undefined || /fetch failed|terminated/.test(error.message))) {
    return {
      fault: new AppError(
        'retrieval_error',
        `The Qdrant server at ${server} cannot be reached (${code ?? messageOf(error.cause ?? error)}).`,
        {
          hint: 'Start it or check QDRANT_URL; without QDRANT_URL collections are kept in files of your own.',
          recoverable: true,
          cause: error,
        },
      ),
      transient: true,
    };
  }
  if (error instanceof SyntaxError && refusal !== null) return serverFault(refusal, '', context);
  if (error instanceof SyntaxError || /uninitialized|Unexpected Response/.test(messageOf(error))) {
    return { fault: unreadable(server), transient: false };
  }
  // A defect of ours stays one.
  throw error;
}

/** An answer that is none of Qdrant's. */
export function unreadable(server: string): AppError {
  return new AppError(
    'retrieval_error',
    `The server at ${server} gave an answer that cannot be read as one of Qdrant's.`,
    {
      hint: 'Check that QDRANT_URL is the address of a Qdrant server, and what stands between it and you.',
    },
  );
}

function answerFault({ status, headers, data }: ApiError, context: FaultContext): QdrantFault {
  const { server, collection, apiKey } = context;
  const said = saidBy(data, apiKey);
  const final = (kind: ErrorKind, message: string, hint: string): QdrantFault => ({
    fault: new AppError(kind, message, { hint }),
    transient: false,
  });
  const named = collection === null ? 'The collection' : `The collection "${collection}"`;
  if (status === 401 || status === 403) {
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
  if (status === 429) return rateLimited(context, retryAfterOf(headers));
  if (status === 404 && collection !== null) {
    return final(
      'retrieval_error',
      `${named} is not on the Qdrant server at ${server}.`,
      'See what there is with: citeloop collections list',
    );
  }
  if (/dimension/i.test(said)) {
    return final(
      'configuration_error',
      `${named} holds vectors of another length (${said}).`,
      'Use the embedder it was made with, or choose another --collection.',
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

/** Its own words, cut to a line and without the key, should it repeat it. */
function saidBy(data: unknown, apiKey: string | undefined): string {
  const { status } = (data ?? {}) as { status?: { error?: unknown } };
  const text = typeof data === 'string' ? data : String(status?.error ?? '');
  const safe = apiKey === undefined || apiKey === '' ? text : text.replaceAll(apiKey, '[secret]');
  return oneLine(safe, 160).replace(/[.!]$/, '');
}

function isApiError(error: unknown): error is ApiError {
  const { status, headers } = (error ?? {}) as Partial<ApiError>;
  return typeof status === 'number' && headers !== undefined;
}
