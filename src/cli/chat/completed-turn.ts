import { AppError } from '../../domain/app-error.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { failureOf } from './failure-of.ts';

/** The turn that the events come to, with nothing printed; throws what they report as an error. */
export async function completedTurn(events: AsyncIterable<RunEvent>): Promise<ConversationTurn> {
  let completed: ConversationTurn | undefined;
  for await (const event of events) {
    if (event.type === 'error') throw failureOf(event.error);
    if (event.type === 'turn_completed') completed = event.turn;
  }
  return completed ?? endedEarly();
}

export function endedEarly(): never {
  throw new AppError('api_error', 'The turn ended without an answer.', { recoverable: true });
}
