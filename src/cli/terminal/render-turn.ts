import { stripVTControlCharacters } from 'node:util';
import { waitForTurn } from '../../agent/wait-for-turn.ts';
import { CLOSEST_PASSAGES_OPENING, isClosestPassagesAnswer } from '../../domain/abstention.ts';
import { findFlagged, markFlagged } from '../../domain/answer-status.ts';
import { shortenClosestPassages } from '../../domain/closest-passages.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { CalculatePrice } from '../../evaluation/run/model-prices.ts';
import { displayWidth } from '../../text/display-width.ts';
import { createVisibleStream, oneLine } from '../../text/visible-text.ts';
import type { MarkdownStream } from './markdown-stream.ts';
import { createSpinner } from './progress.ts';
import { renderAnswerFooter, renderMarkdownFooter } from './render-footer.ts';
import { canRedraw, createTerminal, type ProcessStreams, type Terminal, wrapWidth } from './terminal.ts';
import { renderText } from './wrap-text.ts';

interface TurnView {
  stream: boolean;
  /** Omits the blank line between the answer and its sources. */
  compact?: boolean;
  inChat?: boolean;
  /** Markdown source or plain text; formatted for the terminal unless given. */
  format?: AnswerFormat | undefined;
  priceOf?: CalculatePrice | undefined;
}

export type AnswerFormat = 'md' | 'plain';

/**
 * Prints a turn: its progress on stderr, the answer and its sources on stdout. Throws what the events report as an
 * error, or throw themselves, after the last line is ended.
 */
export async function renderTurn(
  events: AsyncIterable<RunEvent>,
  { stdout, stderr }: Pick<ProcessStreams, 'stdout' | 'stderr'>,
  { stream, compact = false, inChat = false, format, priceOf }: TurnView,
): Promise<ConversationTurn> {
  const out = createTerminal(stdout, { plain: format !== undefined });
  const spinner = createSpinner(stderr);
  // Loads while the documents are searched.
  const loading = import('./markdown-stream.ts');
  let answer: ReturnType<typeof createAnswerStream> | undefined;
  let query = '';
  let shortened: readonly string[] = [];
  /** What is printed of the answer; null if something else stands between it and the cursor. */
  let printed: string | null = null;

  async function startAnswer() {
    const { createMarkdownStream } = await loading;
    printed = '';
    const terminal = { ...out, write: writeAnswer };
    const writer =
      format === 'md' ? createRawStream(terminal) : createMarkdownStream({ terminal, width: wrapWidth(out) });
    return createAnswerStream(out.interactive && format === undefined ? shortenPassages(writer) : writer);
  }

  function writeAnswer(text: string): void {
    spinner.hide();
    out.write(text);
    if (printed !== null) printed += text;
  }

  /** Erases the printed answer if all of it is still on the screen, so that it can be printed again. */
  function eraseAnswer(): boolean {
    if (printed === null || !out.colours || format !== undefined || shortened.length > 0) return false;
    const lines = stripVTControlCharacters(printed).split('\n').slice(0, -1);
    const height = lines.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(displayWidth(line) / (stdout.columns || 80))),
      0,
    );
    if (height >= (stdout.rows || 24)) return false;
    out.write(`\x1b[${height}A\x1b[J`);
    return true;
  }

  /** Holds back an answer that lists the closest passages, to print the best part of each. */
  function shortenPassages(writer: MarkdownStream): MarkdownStream {
    let held: string | null = '';
    return {
      push(text) {
        if (held === null) return writer.push(text);
        held += text;
        if (CLOSEST_PASSAGES_OPENING.startsWith(held) || isClosestPassagesAnswer(held)) return;
        writer.push(held);
        held = null;
      },
      end() {
        if (held !== null && held !== '') {
          const { text, truncatedMarkers } = shortenClosestPassages(held, query);
          writer.push(text);
          shortened = truncatedMarkers;
        }
        held = '';
        writer.end();
      },
    };
  }

  /** Text before a search becomes a separate paragraph. */
  function showProgress(label: string): void {
    if (answer?.end() && out.interactive) out.write('\n');
    answer = undefined;
    spinner.show(label);
  }

  function renderNotice(message: string): void {
    answer?.end();
    printed = null;
    spinner.hide();
    renderText(createTerminal(stderr), `Note: ${oneLine(message, 500)}`, { style: 'dim' });
  }

  async function renderEvent(event: RunEvent): Promise<void> {
    switch (event.type) {
      case 'phase':
        if (event.to === 'retrieving') showProgress('searching');
        if (event.to === 'generating') showProgress('writing');
        break;
      case 'retrieval_started':
        query ||= event.query;
        showProgress(`searching: ${oneLine(event.query, 200)}`);
        break;
      case 'retrieval_finished':
        event.context?.notes.forEach(renderNotice);
        break;
      case 'notice':
        if (event.retry !== undefined && canRedraw(stderr)) showProgress(event.message);
        else renderNotice(event.message);
        break;
      case 'text_discarded':
        // What was printed stays; the answer begins again below it.
        showProgress('writing');
        break;
      case 'text_delta':
        if (!stream) break;
        answer ??= await startAnswer();
        answer.push(event.delta);
    }
  }

  let completed: ConversationTurn | undefined;
  try {
    completed = await waitForTurn(events, renderEvent);
  } finally {
    spinner.hide();
    if (completed === undefined) answer?.end();
  }
  let streamed = answer?.end() ?? false;
  if (streamed && findFlagged(completed.response.sentences).length > 0) streamed = !eraseAnswer();
  if (!streamed) {
    const whole = await startAnswer();
    whole.push(markFlagged(completed.response));
    whole.end();
  }
  if (!compact || format === 'md') out.write('\n');
  if (format === 'md') renderMarkdownFooter(out, completed.response);
  else renderAnswerFooter(out, completed, { streamed, inChat, shortened, priceOf });
  return completed;
}

/** Removes escape sequences, also those that are split between deltas. */
function createAnswerStream(writer: MarkdownStream) {
  const visible = createVisibleStream();
  let hasText = false;

  function write(text: string): void {
    const kept = hasText ? text : text.trimStart();
    if (kept === '') return;
    hasText = true;
    writer.push(kept);
  }

  return {
    push: (delta: string) => write(visible.push(delta)),
    /** Ends the last line and returns whether anything was written. May be called again. */
    end(): boolean {
      write(visible.end());
      writer.end();
      return hasText;
    },
  };
}

/** Writes the Markdown source without blank lines around it. */
function createRawStream(terminal: Terminal): MarkdownStream {
  let heldSpace = '';
  let isOpen = false;
  return {
    push(text) {
      const whole = heldSpace + text;
      const kept = whole.trimEnd();
      heldSpace = whole.slice(kept.length);
      if (kept === '') return;
      terminal.write(kept);
      isOpen = true;
    },
    end() {
      if (isOpen) terminal.write('\n');
      isOpen = false;
    },
  };
}
