import { AppError, type ErrorKind } from './app-error.ts';

export const EXIT_SUCCESS = 0;
/** Anything but an AppError is an internal error. */
const EXIT_INTERNAL_ERROR = 1;

const exitCodes: Record<ErrorKind, number> = {
  invalid_input: 2,
  context_overflow: 2,
  configuration_error: 3,
  auth_error: 3,
  retrieval_error: 4,
  api_error: 5,
  rate_limit: 5,
  not_grounded: 6,
  replay_drift: 7,
  gate_failed: 8,
  interrupted: 130,
};

export function exitCodeOf(error: unknown): number {
  return error instanceof AppError ? exitCodes[error.kind] : EXIT_INTERNAL_ERROR;
}
