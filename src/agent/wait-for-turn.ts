import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { AppError } from '../faults/app-error.ts';
import { fromErrorResponse } from '../faults/error-response.ts';

/**
 * Reads the events of a turn to their end and returns the turn. Awaits `onEvent` for each event, the error event
 * included. Throws the error of an `error` event, and `api_error` if there is neither turn nor error.
 */
export async function waitForTurn(
  events: AsyncIterable<RunEvent>,
  onEvent: (event: RunEvent) => unknown = () => {},
): Promise<ConversationTurn> {
  let completed: ConversationTurn | undefined;
  for await (const event of events) {
    await onEvent(event);
    if (event.type === 'error') throw fromErrorResponse(event.error);
    if (event.type === 'turn_completed') completed = event.turn;
  }
  return completed ?? throwNoAnswer();
}

/** Throws the error of a turn whose events ended without an answer. */
export function throwNoAnswer(): never {
  throw new AppError('api_error', 'The turn ended without an answer.', { recoverable: true });
}
