import { AppError, type ErrorKind, messageOf } from '../../faults/app-error.ts';
import { hintOf } from '../../faults/error-response.ts';

interface HttpErrorDetails {
  /** A machine-readable code. */
  code?: string;
  /** The field of the request that caused the error. */
  param?: string;
  /** Seconds to wait before trying again. */
  retryAfter?: number | undefined;
  hint?: string;
}

/** An error with an HTTP status. The message is sent to the client. */
export class HttpError extends Error {
  readonly status: number;
  readonly details: HttpErrorDetails;

  constructor(status: number, message: string, details: HttpErrorDetails = {}) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
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
    return new HttpError(STATUS_BY_KIND[error.kind] ?? 500, error.message, {
      code: error.kind === 'context_overflow' ? 'context_length_exceeded' : error.kind,
      retryAfter: error.retryAfter,
      hint: hintOf(error),
    });
  }
  if (error instanceof Error && error.name === 'AbortError')
    return new HttpError(499, 'The client disconnected.', { code: 'client_closed_request' });
  return new HttpError(500, INTERNAL_ERROR_MESSAGE, { code: 'internal_error' });
}

/** Whether an error is internal and belongs in the log. */
export function isInternalError(error: unknown): boolean {
  return !(error instanceof HttpError) && !(error instanceof AppError) && messageOf(error) !== '';
}

/** The error body that OpenAI's clients read. */
interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

export function toErrorBody({ status, message, details }: HttpError): ErrorBody {
  const text = details.hint === undefined ? message : `${message} ${details.hint}`;
  return {
    error: {
      message: text,
      type: toErrorType(status),
      param: details.param ?? null,
      code: details.code ?? null,
    },
  };
}

function toErrorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
