import { stripVTControlCharacters } from 'node:util';
import { waitForTurn } from '../../agent/wait-for-turn.ts';
import { createMarkerMerger, mergeMarkers } from '../../citations/merge-markers.ts';
import { markFlagged } from '../../domain/answer-status.ts';
import { shortenClosestPassages } from '../../domain/closest-passages.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { CalculatePrice } from '../../evaluation/run/model-prices.ts';
import { displayWidth } from '../../text/display-width.ts';
import { createVisibleStream, oneLine, visibleText } from '../../text/visible-text.ts';
import type { MarkdownStream } from './markdown-stream.ts';
import { createSpinner } from './progress.ts';
import { renderAnswerFooter, toMarkdownFooter } from './render-footer.ts';
import { canRedraw, createTerminal, type ProcessStreams, wrapWidth } from './terminal.ts';
import { renderText } from './wrap-text.ts';

interface TurnView {
  /** Prints the answer while it is generated, if a person reads it. A pipe gets the checked answer. */
  stream: boolean;
  /** Omits the blank line between the answer and its sources. */
  compact?: boolean;
  inChat?: boolean;
  /** Prints all facts about the turn. */
  verbose?: boolean | undefined;
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
  { stream, compact = false, inChat = false, verbose = false, format, priceOf }: TurnView,
): Promise<ConversationTurn> {
  const out = createTerminal(stdout, { plain: format !== undefined });
  const spinner = createSpinner(stderr);
  const isStreamed = stream && out.interactive && format !== 'md';
  // Loads while the documents are searched.
  const loading = import('./markdown-stream.ts');
  let answer: ReturnType<typeof createAnswerStream> | undefined;
  let query = '';
  /** What is printed of the answer; null if something else stands between it and the cursor. */
  let printed: string | null = null;

  async function startAnswer() {
    const { createMarkdownStream } = await loading;
    printed = '';
    const terminal = { ...out, write: writeAnswer };
    return createAnswerStream(createMarkdownStream({ terminal, width: wrapWidth(out) }));
  }

  function writeAnswer(text: string): void {
    spinner.hide();
    out.write(text);
    if (printed !== null) printed += text;
  }

  /** On a terminal, of the closest passages only the best parts. */
  function toShownAnswer(text: string) {
    const isShortened = out.interactive && format === undefined;
    const shown = isShortened ? shortenClosestPassages(text, query) : { text, truncatedMarkers: [] };
    return { ...shown, text: mergeMarkers(shown.text) };
  }

  /** Erases the printed answer if all of it is still on the screen, so that it can be printed again. */
  function eraseAnswer(): boolean {
    if (printed === null || !out.colours) return false;
    const lines = stripVTControlCharacters(printed).split('\n').slice(0, -1);
    const height = lines.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(displayWidth(line) / (stdout.columns || 80))),
      0,
    );
    if (height >= (stdout.rows || 24)) return false;
    out.write(`\x1b[${height}A\x1b[J`);
    return true;
  }

  /** Text before a search becomes a separate paragraph. */
  function showProgress(label: string): void {
    if (answer !== undefined && answer.end() !== '' && out.interactive) out.write('\n');
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
        if (!isStreamed) break;
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
  const { text, truncatedMarkers } = toShownAnswer(markFlagged(completed.response));
  const streamed = answer?.end() ?? '';
  if (format === 'md') {
    const blocks = [text.trim(), ...toMarkdownFooter(completed.response)];
    out.write(`${visibleText(blocks.join('\n\n'))}\n`);
    return completed;
  }
  if (streamed === '' || (streamed.trim() !== text.trim() && eraseAnswer())) {
    const whole = await startAnswer();
    whole.write(text);
    whole.end();
  }
  const footer = { inChat, verbose, isSeparate: !compact, shortened: truncatedMarkers, priceOf };
  renderAnswerFooter(out, completed, footer);
  return completed;
}

/** Prints text while it arrives. */
function createAnswerStream(writer: MarkdownStream) {
  // Removes escape sequences, also those that are split between deltas.
  const visible = createVisibleStream();
  const merger = createMarkerMerger(write);
  let shown = '';

  function write(text: string): void {
    const kept = shown === '' ? text.trimStart() : text;
    if (kept === '') return;
    shown += kept;
    writer.push(kept);
  }

  return {
    push: (delta: string) => merger.push(visible.push(delta)),
    write: (text: string) => write(visible.push(text) + visible.end()),
    /** Ends the last line and returns the text that was written. May be called again. */
    end(): string {
      merger.push(visible.end());
      merger.end();
      writer.end();
      return shown;
    },
  };
}
