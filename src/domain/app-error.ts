/** What went wrong, as far as the person or the calling program has to tell faults apart. */
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
  /** What the person can do next, one sentence. */
  hint?: string;
  /** Whether trying the same thing again may succeed. */
  recoverable?: boolean;
  /** Seconds to wait before trying again. */
  retryAfter?: number;
  cause?: unknown;
}

/** A failure that a person must act on. `message` is one plain sentence: what happened and why. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly hint: string | undefined;
  readonly recoverable: boolean;
  readonly retryAfter: number | undefined;

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.hint = options.hint;
    this.recoverable = options.recoverable ?? kind === 'rate_limit';
    this.retryAfter = options.retryAfter;
  }
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
