import { type Advice, plainly } from './advice.ts';

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
  /** What the person can do next, one sentence; as advice where it names a setting or a command. */
  hint?: string | Advice | undefined;
  /** Whether trying the same thing again may succeed. */
  recoverable?: boolean | undefined;
  /** Seconds to wait before trying again. */
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** A failure that a person must act on. `message` is one plain sentence: what happened and why. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  /** As everybody can read it. */
  readonly hint: string | undefined;
  /** The hint with its gaps, for whoever has flags or commands to fill them with. */
  readonly advice: Advice | undefined;
  readonly recoverable: boolean;
  readonly retryAfter: number | undefined;

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.advice = typeof options.hint === 'string' ? [options.hint] : options.hint;
    this.hint = this.advice && plainly(this.advice);
    this.recoverable = options.recoverable ?? kind === 'rate_limit';
    this.retryAfter = options.retryAfter;
  }
}

/** The same failure, said in another sentence. */
export function restated(failure: AppError, message: string): AppError {
  return new AppError(failure.kind, message, { ...failure, hint: failure.advice, cause: failure.cause });
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
