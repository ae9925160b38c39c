import { createInterface, type Key } from 'node:readline';
import { createTerminal } from '../terminal.ts';
import { createLineJoiner } from './join-lines.ts';
import { createMutableOutput } from './mutable-output.ts';
import type { QuestionSource } from './read-questions.ts';
import { canRedraw } from './streams.ts';

/** Lines that come faster than anyone types were pasted, and are one message. */
const PASTE_MS = 15;
const PROMPT = '> ';
const CONTINUED = '… ';

/**
 * Messages from a person at a terminal. While one is being answered, what is typed is kept but not shown, and
 * Ctrl-C goes to `onInterrupt`; at the prompt it clears what was typed, and twice in a row it ends the input,
 * as Ctrl-D does.
 */
export async function* readTypedQuestions(source: QuestionSource): AsyncGenerator<string, void, undefined> {
  const { stdin, stdout, stderr } = source.streams;
  const screen = stdout.isTTY === true ? stdout : stderr;
  const terminal = createTerminal(screen);
  const output = createMutableOutput(screen);
  const readline = createInterface({
    input: stdin,
    output: output.stream,
    terminal: true,
    prompt: terminal.text(PROMPT, 'bold'),
    history: source.history.toReversed(),
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: source.complete,
    signal: source.signal,
  });
  const joiner = createLineJoiner();
  const messages: { text: string; shown: boolean }[] = [];
  let pasted: string[] = [];
  let pasting = false;
  let pasteTimer: NodeJS.Timeout | undefined;
  let answering = false;
  let leaving = false;
  let ended = false;
  let wake = () => {};

  function prompt(): void {
    const unfinished = joiner.open || pasted.length > 0;
    readline.setPrompt(unfinished ? terminal.text(CONTINUED, 'dim') : terminal.text(PROMPT, 'bold'));
    if (!answering) readline.prompt(true);
  }

  function takeLine(line: string): void {
    leaving = false;
    pasted.push(line);
    clearTimeout(pasteTimer);
    if (pasting) prompt();
    else pasteTimer = setTimeout(takeMessage, PASTE_MS);
  }

  function takeMessage(): void {
    // The last line of what was pasted has no line feed yet; it can be edited, and Enter sends it all.
    const message = readline.line !== '' && !ended ? null : joiner.push(takePasted());
    if (message === null || message.trim() === '') {
      prompt();
    } else {
      source.onMessage(message);
      messages.push({ text: message, shown: !answering });
      wake();
    }
  }

  function takePasted(): string {
    const text = pasted.join('\n');
    pasted = [];
    return text;
  }

  function interrupt(): void {
    const typed = readline.line !== '' || joiner.open || pasted.length > 0;
    if (answering) {
      leaving = true;
      source.onInterrupt();
    } else if (leaving && !typed) {
      readline.close();
    } else {
      leaving = !typed;
      clearTypedText();
      screen.write(typed ? '^C\n' : `\n${terminal.text('Ctrl-C again, Ctrl-D or /quit leaves.', 'dim')}\n`);
      prompt();
    }
  }

  function clearTypedText(): void {
    joiner.take();
    takePasted();
    clearTimeout(pasteTimer);
    output.muted = true;
    readline.write(null, { ctrl: true, name: 'e' });
    readline.write(null, { ctrl: true, name: 'u' });
    output.muted = false;
  }

  /** Asks the terminal to mark what is pasted. */
  function setPasteMode(on: boolean): void {
    if (canRedraw(screen)) screen.write(on ? '\x1b[?2004h' : '\x1b[?2004l');
  }

  function watchPaste(_: string | undefined, key: Key): void {
    if (key.name === 'paste-start') pasting = true;
    if (key.name === 'paste-end') pasting = false;
  }

  readline.on('line', takeLine);
  readline.on('SIGINT', interrupt);
  readline.on('SIGCONT', () => {
    readline.resume();
    setPasteMode(true);
    prompt();
  });
  readline.on('close', () => {
    ended = true;
    if (pasted.length > 0) takeMessage();
    wake();
  });
  stdin.on('keypress', watchPaste);
  setPasteMode(true);
  try {
    while (true) {
      answering = false;
      output.muted = false;
      if (messages.length === 0 && !ended) {
        prompt();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const message = messages.shift();
      if (message === undefined) break;
      // Typed ahead, while nothing was shown.
      if (!message.shown) screen.write(`${terminal.text(`${PROMPT}${message.text}`)}\n`);
      answering = true;
      output.muted = true;
      yield message.text;
    }
    if (stdout.isTTY === true) screen.write('\n');
  } finally {
    clearTimeout(pasteTimer);
    output.muted = true;
    stdin.off('keypress', watchPaste);
    readline.close();
    output.close();
    setPasteMode(false);
  }
}
