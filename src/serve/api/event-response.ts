import { AppError } from '../../domain/app-error.ts';
import { toErrorResponse } from '../../domain/error-response.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { streamResponse } from '../http/stream-response.ts';
import type { StartedTurn, WaitingEvent } from '../turns/turn-runner.ts';

/** The first event of an answer: which session it belongs to, for the next question. */
export interface SessionEvent {
  type: 'session';
  sessionId: string;
  collection: string;
  model: string;
  /** The number that the turn will have. */
  turnNumber: number;
}

/** What `POST /api/ask` sends. The last is `turn_completed` or `error`. */
export type ServedEvent = SessionEvent | WaitingEvent | RunEvent;

/** The events of a turn as they happen: a JSON object a line, or server-sent events. */
export function eventResponse(first: SessionEvent, turn: StartedTurn, asServerSent: boolean): Response {
  const piece = (event: ServedEvent) =>
    asServerSent ? `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n` : `${JSON.stringify(event)}\n`;
  async function* pieces() {
    yield piece(first);
    for await (const event of turn.events) yield piece(event);
  }
  return streamResponse(pieces(), {
    contentType: asServerSent ? 'text/event-stream' : 'application/x-ndjson',
    onFailure: (error) => piece({ type: 'error', error: toErrorResponse(failureOf(error)) }),
    onCancel: turn.abandon,
  });
}

function failureOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const sentence = 'Something went wrong that should not have.';
  return new AppError('api_error', sentence, { recoverable: true, cause: error });
}
