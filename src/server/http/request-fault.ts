import { AppError, type ErrorKind, messageOf } from '../../faults/app-error.ts';
import { hintOf } from '../../faults/error-response.ts';

interface FaultDetails {
  /** A word for programs. */
  code?: string;
  /** The field of the request that is to blame. */
  param?: string;
  /** Seconds to wait before trying again. */
  retryAfter?: number | undefined;
  hint?: string;
}

/** A request that gets an HTTP status other than 200. The message is for the caller to read. */
export class RequestFault extends Error {
  readonly status: number;
  readonly details: FaultDetails;

  constructor(status: number, message: string, details: FaultDetails = {}) {
    super(message);
    this.name = 'RequestFault';
    this.status = status;
    this.details = details;
  }
}

const STATUS: Partial<Record<ErrorKind, number>> = {
  invalid_input: 400,
  context_overflow: 400,
  not_grounded: 422,
  rate_limit: 429,
  // The service behind this one failed, not the caller.
  auth_error: 502,
  api_error: 502,
  retrieval_error: 503,
  interrupted: 503,
};

/** Anything that was thrown, as a fault. What is not meant for callers is not shown to them. */
export function toRequestFault(error: unknown): RequestFault {
  if (error instanceof RequestFault) return error;
  if (!(error instanceof AppError)) {
    const aborted = error instanceof Error && error.name === 'AbortError';
    return aborted
      ? new RequestFault(499, 'The client has gone.', { code: 'client_closed_request' })
      : new RequestFault(500, 'Something went wrong that should not have.', { code: 'internal_error' });
  }
  return new RequestFault(STATUS[error.kind] ?? 500, error.message, {
    code: error.kind === 'context_overflow' ? 'context_length_exceeded' : error.kind,
    retryAfter: error.retryAfter,
    hint: hintOf(error),
  });
}

/** Whether it is a defect of ours, which a log should hold. */
export function isDefect(error: unknown): boolean {
  return !(error instanceof RequestFault) && !(error instanceof AppError) && messageOf(error) !== '';
}

/** The body that OpenAI's clients read faults from. */
interface WireError {
  error: { message: string; type: string; param: string | null; code: string | null };
}

export function toWireError({ status, message, details }: RequestFault): WireError {
  const text = details.hint === undefined ? message : `${message} ${details.hint}`;
  return {
    error: {
      message: text,
      type: typeOf(status),
      param: details.param ?? null,
      code: details.code ?? null,
    },
  };
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
