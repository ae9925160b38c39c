import { completeTurn } from '../../agent/complete-turn.ts';
import { CLOSEST_PASSAGES, showsPassages } from '../../domain/abstention.ts';
import { nearestParts } from '../../domain/closest-passages.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { PriceOf } from '../../evaluation/run/prices.ts';
import type { Retry } from '../../faults/retry.ts';
import { createVisibleStream, oneLine } from '../../text/visible-text.ts';
import type { MarkdownStream } from './markdown-stream.ts';
import { countdown, createSpinner, withElapsed } from './progress.ts';
import { renderFooter, renderMarkdownFooter } from './render-answer.ts';
import { canRedraw, createTerminal, type Streams, type Terminal, wrapWidth } from './terminal.ts';
import { renderText } from './wrapping.ts';

interface TurnView {
  /** Whether the answer is printed as it is made, or at once when it is complete. */
  stream: boolean;
  /** No blank line between the answer and its sources. */
  compact?: boolean;
  /** Whether commands of a chat can be typed next. */
  inChat?: boolean;
  /** Markdown as the model wrote it, or its words without any look; else as the terminal can show it. */
  format?: AnswerFormat | undefined;
  priceOf?: PriceOf | undefined;
}

export type AnswerFormat = 'md' | 'plain';

/**
 * Prints a turn as it happens: the phase on stderr, the answer and its sources on stdout. Returns the turn,
 * and throws what the events report as an error or throw themselves. Whatever happens, no line is left open.
 */
export async function renderTurn(
  events: AsyncIterable<RunEvent>,
  { stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>,
  { stream, compact = false, inChat = false, format, priceOf }: TurnView,
): Promise<ConversationTurn> {
  const out = createTerminal(stdout, { plain: format !== undefined });
  const spinner = createSpinner(stderr);
  // Loaded while the documents are searched.
  const loading = import('./markdown-stream.ts');
  let answer: AnswerStream | undefined;
  let query = '';
  let inPart: readonly string[] = [];

  async function startAnswer(): Promise<AnswerStream> {
    const { createMarkdownStream } = await loading;
    const terminal = { ...out, write: written };
    const look = { terminal, width: wrapWidth(out) };
    const writer = format === 'md' ? createRawStream(terminal) : createMarkdownStream(look);
    // Whoever wants words for a program, or has them in a pipe, has no screen that they could fill.
    return createAnswerStream(out.interactive && format === undefined ? partsAlone(writer) : writer);
  }

  /** Waits for all of the closest passages, and shows what is nearest of each. */
  function partsAlone(writer: MarkdownStream): MarkdownStream {
    let held: string | null = '';
    return {
      push(text) {
        if (held === null) return writer.push(text);
        held += text;
        if (CLOSEST_PASSAGES.startsWith(held) || showsPassages(held)) return;
        writer.push(held);
        held = null;
      },
      end() {
        const shown = nearestParts(held ?? '', query);
        if (held !== null && held !== '') {
          writer.push(shown.text);
          inPart = shown.inPart;
        }
        held = '';
        writer.end();
      },
    };
  }

  function written(text: string): void {
    spinner.hide();
    out.write(text);
  }

  /** What was said before a search is a paragraph of its own. */
  function show(label: string | (() => string)): void {
    if (answer?.end() && out.interactive) out.write('\n');
    answer = undefined;
    spinner.show(label);
  }

  function notice(message: string, retry?: Retry<{ message: string }>): void {
    if (retry !== undefined && canRedraw(stderr)) {
      show(countdown(retry));
    } else {
      answer?.end();
      spinner.hide();
      const terminal = createTerminal(stderr);
      renderText(terminal, `Note: ${oneLine(message, 500)}`, { style: 'dim' });
    }
  }

  async function render(event: RunEvent): Promise<void> {
    if (event.type === 'phase' && event.to === 'retrieving') show('searching');
    else if (event.type === 'phase' && event.to === 'generating') show(withElapsed('writing'));
    else if (event.type === 'retrieval_started') {
      query ||= event.query;
      show(`searching: ${oneLine(event.query, 200)}`);
    } else if (event.type === 'retrieval_finished')
      for (const note of event.context?.notes ?? []) notice(note);
    else if (event.type === 'notice') notice(event.message, event.retry);
    else if (event.type === 'text_delta' && stream) {
      answer ??= await startAnswer();
      answer.push(event.delta);
    }
  }

  let completed: ConversationTurn | undefined;
  try {
    completed = await completeTurn(events, render);
  } finally {
    spinner.hide();
    if (completed === undefined) answer?.end();
  }
  const streamed = answer?.end() ?? false;
  if (!streamed) {
    const whole = await startAnswer();
    whole.push(completed.response.answer);
    whole.end();
  }
  if (!compact || format === 'md') out.write('\n');
  if (format === 'md') renderMarkdownFooter(out, completed.response);
  else renderFooter(out, completed, { streamed, inChat, inPart, priceOf });
  return completed;
}

/** An answer on its way to the terminal, made safe. */
interface AnswerStream {
  push(delta: string): void;
  /** Ends the last line; says whether there was anything to write. May be called again. */
  end(): boolean;
}

function createAnswerStream(writer: MarkdownStream): AnswerStream {
  const visible = createVisibleStream();
  let begun = false;

  function write(text: string): void {
    const whole = begun ? text : text.trimStart();
    if (whole === '') return;
    begun = true;
    writer.push(whole);
  }

  return {
    push: (delta) => write(visible.push(delta)),
    end() {
      write(visible.end());
      writer.end();
      return begun;
    },
  };
}

/** Markdown as it is, without blank lines around it. */
function createRawStream(terminal: Terminal): MarkdownStream {
  let gap = '';
  let isOpen = false;
  return {
    push(text) {
      const whole = gap + text;
      const shown = whole.trimEnd();
      gap = whole.slice(shown.length);
      if (shown === '') return;
      terminal.write(shown);
      isOpen = true;
    },
    end() {
      if (isOpen) terminal.write('\n');
      isOpen = false;
    },
  };
}
