import { AppError, type ErrorKind, messageOf } from './app-error.ts';

/** An error as a worker message; `kind` is null unless it is an AppError. */
export interface SerializedError {
  kind: ErrorKind | null;
  message: string;
  hint: string | undefined;
}

export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof AppError)) return { kind: null, message: messageOf(error), hint: undefined };
  return { kind: error.kind, message: error.message, hint: error.hint };
}

export function deserializeError({ kind, message, hint }: SerializedError): Error {
  if (kind === null) return new Error(message);
  return new AppError(kind, message, hint === undefined ? {} : { hint });
}
