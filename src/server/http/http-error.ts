import { AppError, type ErrorKind } from '../../faults/app-error.ts';
import { plainHint } from '../../faults/error-response.ts';

interface HttpErrorDetails {
  /** The field of the request that caused the error. */
  param?: string;
  /** Seconds to wait before trying again. */
  retryAfter?: number | undefined;
  hint?: string;
}

/** An error with an HTTP status. The message is sent to the client. */
export class HttpError extends Error {
  readonly status: number;
  /** Machine-readable. */
  readonly code: string;
  readonly details: HttpErrorDetails;

  constructor(status: number, code: string, message: string, details: HttpErrorDetails = {}) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** What clients read about an internal error; its message goes to the log only. */
export const INTERNAL_ERROR_MESSAGE = 'Internal error.';

const STATUS_BY_KIND: Partial<Record<ErrorKind, number>> = {
  invalid_input: 400,
  context_overflow: 400,
  not_grounded: 422,
  rate_limit: 429,
  // The model service failed, not the client.
  auth_error: 502,
  api_error: 502,
  retrieval_error: 503,
  interrupted: 503,
};

/** Converts anything thrown. The message of an internal error is replaced. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof AppError) {
    const { kind, message, retryAfter } = error;
    const code = kind === 'context_overflow' ? 'context_length_exceeded' : kind;
    return new HttpError(STATUS_BY_KIND[kind] ?? 500, code, message, { retryAfter, hint: plainHint(error) });
  }
  if (error instanceof Error && error.name === 'AbortError')
    return new HttpError(499, 'client_closed_request', 'The client disconnected.');
  return new HttpError(500, 'internal_error', INTERNAL_ERROR_MESSAGE);
}

/** The error body that OpenAI's clients read. */
export function toErrorBody({ status, code, message, details: { hint, param } }: HttpError) {
  const text = hint === undefined || hint === '' ? message : `${message} ${hint}`;
  return { error: { message: text, type: toErrorType(status), param: param ?? null, code } };
}

function toErrorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
