import { AppError } from './app-error.ts';

/** How far a session has come: its newest turn's number, and how often it was reset. */
export interface Progress {
  turns: number;
  segments: number;
}

/**
 * Throws `invalid_input` if a change was made from an older state of the session than is kept: someone went
 * on with it elsewhere, and counters or messages would be lost.
 */
export function assertCurrent(sessionId: string, seen: Progress, kept: Progress): void {
  if (seen.turns >= kept.turns && seen.segments >= kept.segments) return;
  throw new AppError('invalid_input', `The session ${sessionId} was continued elsewhere in the meantime.`, {
    hint: 'Resume it to go on from there, or start a new one.',
  });
}

export function unknownSession(sessionId: string): AppError {
  return new AppError('invalid_input', `There is no session "${sessionId}".`, {
    hint: 'See which there are with: citeloop sessions list',
  });
}

export function takenSessionId(sessionId: string): AppError {
  return new AppError('invalid_input', `There is already a session ${sessionId}.`, {
    hint: 'Resume it, or start one with another id.',
  });
}
