import { completeTurn } from '../../agent/complete-turn.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { Retry } from '../../faults/retry.ts';
import { createVisibleStream } from '../../text/visible-stream.ts';
import { oneLine } from '../../text/visible-text.ts';
import { countdown, createSpinner } from './progress.ts';
import { renderFooter } from './render-answer.ts';
import { canRedraw, createTerminal, type Streams, type Terminal, wrapWidth } from './terminal.ts';
import { createWrappingWriter, renderText } from './wrapping.ts';

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

  function createAnswer(): AnswerStream {
    return createAnswerStream(out, () => spinner.hide());
  }

  /** What was said before a search is a paragraph of its own. */
  function show(label: string | (() => string)): void {
    if (answer.end() && out.interactive) out.write('\n');
    answer = createAnswer();
    spinner.show(label);
  }

  function notice(message: string, retry?: Retry<{ message: string }>): void {
    if (retry !== undefined && canRedraw(stderr)) {
      show(countdown(retry));
    } else {
      answer.end();
      spinner.hide();
      const terminal = createTerminal(stderr);
      terminal.write(`${terminal.text(`Note: ${oneLine(message, 500)}`, 'dim')}\n`);
    }
  }

  function render(event: RunEvent): void {
    if (event.type === 'phase' && event.to === 'retrieving') show('searching');
    else if (event.type === 'phase' && event.to === 'generating') show('writing');
    else if (event.type === 'retrieval_started') show(`searching: ${oneLine(event.query, 200)}`);
    else if (event.type === 'retrieval_finished') for (const note of event.context?.notes ?? []) notice(note);
    else if (event.type === 'notice') notice(event.message, event.retry);
    else if (event.type === 'text_delta' && stream) answer.push(event.delta);
  }

  let completed: ConversationTurn | undefined;
  try {
    completed = await completeTurn(events, render);
  } finally {
    spinner.hide();
    if (completed === undefined) answer.end();
  }
  const streamed = answer.end();
  if (!streamed) renderText(out, completed.response.answer);
  if (!compact) out.write('\n');
  renderFooter(out, completed, { streamed });
  return completed;
}

/** An answer on its way to the terminal: made safe and wrapped, without blank lines around it. */
interface AnswerStream {
  push(delta: string): void;
  /** Ends the last line; says whether anything was written. May be called again. */
  end(): boolean;
}

function createAnswerStream(terminal: Terminal, beforeWrite: () => void): AnswerStream {
  const visible = createVisibleStream();
  const writer = createWrappingWriter((text) => terminal.write(text), wrapWidth(terminal));
  let written = false;
  let gap = '';

  function write(text: string): void {
    const whole = written ? gap + text : text.trimStart();
    const shown = whole.trimEnd();
    gap = whole.slice(shown.length);
    if (shown === '') return;
    beforeWrite();
    written = true;
    writer.write(shown);
  }

  return {
    push: (delta) => write(visible.push(delta)),
    end() {
      write(visible.end());
      writer.end();
      return written;
    },
  };
}
