import { AppError, type ErrorKind, messageOf } from './app-error.ts';

/** An error as a worker message; `kind` is null unless it is an AppError. */
export interface FaultMessage {
  kind: ErrorKind | null;
  message: string;
  hint: string | undefined;
}

export function toFaultMessage(error: unknown): FaultMessage {
  if (!(error instanceof AppError)) return { kind: null, message: messageOf(error), hint: undefined };
  return { kind: error.kind, message: error.message, hint: error.hint };
}

export function fromFaultMessage({ kind, message, hint }: FaultMessage): Error {
  if (kind === null) return new Error(message);
  return new AppError(kind, message, hint === undefined ? {} : { hint });
}
