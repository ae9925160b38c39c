import type { TurnState } from './turn-state.ts';

/** What a screen reader says: not each word, but each step. A failure speaks for itself. */
export function statusLine(last: TurnState | undefined): string {
  if (last === undefined || last.status === 'failed') return '';
  if (last.status === 'running') return last.activity;
  if (last.status === 'stopped') return 'Stopped.';
  const { length } = last.citations;
  const citations = length === 1 ? '1 citation' : `${length} citations`;
  return `Answer complete, ${last.turn?.response.grounded ? 'grounded' : 'not grounded'}, ${citations}.`;
}
