import type { RunEvent } from '../../domain/run-event.ts';
import { oneLine } from '../../domain/visible-text.ts';

const MAX_QUERY = 120;

/** What somebody who waits for an answer is told about an event; null for what only matters at the end. */
export function progressMessage(event: RunEvent): string | null {
  switch (event.type) {
    case 'phase':
      return event.to === 'generating' ? 'The model is at work' : null;
    case 'retrieval_started':
      return `Searching for "${oneLine(event.query, MAX_QUERY)}"`;
    case 'retrieval_finished':
      return event.context === null
        ? `The search failed: ${oneLine(event.error?.message ?? 'no reason given', 200)}`
        : found(event.context.chunks.length);
    case 'notice':
      return oneLine(event.message, 300);
    default:
      return null;
  }
}

function found(passages: number): string {
  if (passages === 0) return 'Found nothing';
  return passages === 1 ? 'Found 1 passage' : `Found ${passages} passages`;
}
