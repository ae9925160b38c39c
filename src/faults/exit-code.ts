import { AppError, type ErrorKind } from './app-error.ts';

export const EXIT_DONE = 0;
/** Whatever is not an AppError is a defect of ours. */
const EXIT_DEFECT = 1;

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

/** The exit code of a run that ended with this error. */
export function exitCodeOf(error: unknown): number {
  return error instanceof AppError ? exitCodes[error.kind] : EXIT_DEFECT;
}
