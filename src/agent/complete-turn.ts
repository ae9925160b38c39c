import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { AppError } from '../faults/app-error.ts';
import { fromErrorResponse } from '../faults/error-response.ts';

/**
 * The turn that the events come to. Each is shown to `onEvent` first, which may take its time, also the one that reports an error, which is
 * then thrown. Throws as well when they end without an answer.
 */
export async function completeTurn(
  events: AsyncIterable<RunEvent>,
  onEvent: (event: RunEvent) => unknown = () => {},
): Promise<ConversationTurn> {
  let completed: ConversationTurn | undefined;
  for await (const event of events) {
    await onEvent(event);
    if (event.type === 'error') throw fromErrorResponse(event.error);
    if (event.type === 'turn_completed') completed = event.turn;
  }
  return completed ?? endedEarly();
}

/** For whoever reads the events of a turn by itself, and came to their end. */
export function endedEarly(): never {
  throw new AppError('api_error', 'The turn ended without an answer.', { recoverable: true });
}
