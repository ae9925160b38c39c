import { type Advice, formatPlainAdvice } from './advice.ts';

/** The kinds of errors that callers and exit codes distinguish. */
export type ErrorKind =
  | 'rate_limit'
  | 'api_error'
  | 'retrieval_error'
  | 'auth_error'
  | 'invalid_input'
  | 'context_overflow'
  | 'configuration_error'
  | 'not_grounded'
  | 'replay_drift'
  | 'gate_failed'
  | 'interrupted';

interface AppErrorOptions {
  /** What the user can do next, one sentence; an `Advice` if it names a setting or a command. */
  hint?: string | Advice | undefined;
  /** Whether the same request may succeed later; true for `rate_limit` by default. */
  recoverable?: boolean | undefined;
  /** Seconds to wait before trying again. */
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** An error for the user. `message` is one sentence that says what happened and why. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  /** As a plain sentence. */
  readonly hint: string | undefined;
  /** The hint with its gaps, for the command line. */
  readonly advice: Advice | undefined;
  readonly recoverable: boolean;
  readonly retryAfter: number | undefined;

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.advice = typeof options.hint === 'string' ? [options.hint] : options.hint;
    this.hint = this.advice && formatPlainAdvice(this.advice);
    this.recoverable = options.recoverable ?? kind === 'rate_limit';
    this.retryAfter = options.retryAfter;
  }
}

/** A copy of an error with another message. */
export function withMessage(failure: AppError, message: string): AppError {
  return new AppError(failure.kind, message, { ...failure, hint: failure.advice, cause: failure.cause });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
