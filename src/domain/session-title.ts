import { oneLine } from './visible-text.ts';

/** Enough of a question to know it by; a pasted page would make every list slow. */
const MAX_TITLE = 200;

/** What a session is listed by: its first question, on one line. */
export function sessionTitle(firstQuestion: string): string {
  return oneLine(firstQuestion, MAX_TITLE);
}
