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
    case 'citations':
      return event.citations.length === 0 ? null : `Checked ${counted(event.citations.length, 'citation')}`;
    case 'notice':
      return oneLine(event.message, 300);
    default:
      return null;
  }
}

function found(passages: number): string {
  return passages === 0 ? 'Found nothing' : `Found ${counted(passages, 'passage')}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
