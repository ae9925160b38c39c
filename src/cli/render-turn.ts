import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { oneLine } from '../domain/visible-text.ts';
import { type AnswerStream, createAnswerStream } from './chat/answer-stream.ts';
import { endedEarly } from './chat/completed-turn.ts';
import { failureOf } from './chat/failure-of.ts';
import { countdown, createSpinner } from './chat/spinner.ts';
import { canRedraw, type Streams } from './chat/streams.ts';
import { renderFooter, renderText } from './render-answer.ts';
import { createTerminal } from './terminal.ts';

interface TurnView {
  /** Whether the answer is printed as it is made, or at once when it is complete. */
  stream: boolean;
  /** No blank line between the answer and its sources. */
  compact?: boolean;
}

/**
 * Prints a turn as it happens: the phase on stderr, the answer and its sources on stdout. Returns the turn,
 * and throws what the events report as an error or throw themselves. Whatever happens, no line is left open.
 */
export async function renderTurn(
  events: AsyncIterable<RunEvent>,
  { stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>,
  { stream, compact = false }: TurnView,
): Promise<ConversationTurn> {
  const out = createTerminal(stdout);
  const spinner = createSpinner(stderr);
  let answer = createAnswer();
  let completed: ConversationTurn | undefined;

  function createAnswer(): AnswerStream {
    return createAnswerStream(out, () => spinner.hide());
  }

  /** What was said before a search is a paragraph of its own. */
  function show(label: string | (() => string)): void {
    if (answer.end() && out.interactive) out.write('\n');
    answer = createAnswer();
    spinner.show(label);
  }

  function notice(message: string): void {
    const counting = countdown(message);
    if (counting !== null && canRedraw(stderr)) {
      show(counting);
    } else {
      answer.end();
      spinner.hide();
      const terminal = createTerminal(stderr);
      terminal.write(`${terminal.text(`Note: ${oneLine(message, 500)}`, 'dim')}\n`);
    }
  }

  try {
    for await (const event of events) {
      if (event.type === 'phase' && event.to === 'retrieving') show('searching');
      else if (event.type === 'phase' && event.to === 'generating') show('writing');
      else if (event.type === 'retrieval_started') show(`searching: ${oneLine(event.query, 200)}`);
      else if (event.type === 'retrieval_finished') event.context?.notes.forEach(notice);
      else if (event.type === 'notice') notice(event.message);
      else if (event.type === 'text_delta' && stream) answer.push(event.delta);
      else if (event.type === 'error') throw failureOf(event.error);
      else if (event.type === 'turn_completed') completed = event.turn;
    }
  } finally {
    spinner.hide();
    if (completed === undefined) answer.end();
  }
  completed ??= endedEarly();
  if (!answer.end()) renderText(out, completed.response.answer);
  if (!compact) out.write('\n');
  renderFooter(out, completed);
  return completed;
}
