import { createInterface, type Key } from 'node:readline';
import { Writable } from 'node:stream';
import { canRedraw, createTerminal, type Streams } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';

/** Lines that come faster than anyone types were pasted, and are one message. */
const PASTE_MS = 15;
const PROMPT = '> ';
const CONTINUED = '… ';

export interface QuestionSource {
  streams: Streams;
  signal: AbortSignal;
  /** Past messages for the arrow keys, oldest first. */
  history: readonly string[];
  /** What a line could become, for Tab. */
  complete(line: string): Promise<string[]>;
  /** Hears of every message that a person typed. */
  onMessage(message: string): void;
  /** Ctrl-C while the last message is being answered, that is, before the next one is asked for. */
  onInterrupt(): void;
}

/** What readline wants to hear of a line: what it could become, and the line. */
type Completed = (error: null, found: [string[], string]) => void;

/** Messages as they are asked for, until the input ends: typed at a prompt, or one a line from a pipe. */
export function readQuestions(source: QuestionSource): AsyncGenerator<string, void, undefined> {
  return source.streams.stdin.isTTY === true
    ? readTypedQuestions(source)
    : readPipedQuestions(source.streams.stdin, source.signal);
}

async function* readPipedQuestions(
  stdin: NodeJS.ReadStream,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const joiner = createLineJoiner();
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
    const message = joiner.push(line);
    if (message !== null && message.trim() !== '') yield message;
  }
  const rest = joiner.take();
  if (rest !== null && rest !== '') yield rest;
}

/**
 * Messages from a person at a terminal. While one is being answered, what is typed is kept but not shown, and
 * Ctrl-C goes to `onInterrupt`; at the prompt it clears what was typed, and twice in a row it ends the input,
 * as Ctrl-D does.
 */
async function* readTypedQuestions(source: QuestionSource): AsyncGenerator<string, void, undefined> {
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
    completer: (line: string, done: Completed) => void complete(line, done),
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

  /** By itself readline lists what a line could become only when Tab is pressed once more. */
  async function complete(line: string, done: Completed): Promise<void> {
    const found = await source.complete(line).catch(() => []);
    const next = found[0]?.[line.length];
    const isStuck = found.length > 1 && found.some((each) => each[line.length] !== next);
    done(null, [isStuck ? [] : found, line]);
    if (!isStuck || ended) return;
    screen.write('\n');
    renderText(terminal, found.join('  '));
    prompt();
  }

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

/** A way to a terminal that can be cut while something else is written there. */
interface MutableOutput {
  /** Has the size of the terminal, as readline wants it. */
  stream: Writable & { readonly columns: number };
  muted: boolean;
  close(): void;
}

function createMutableOutput(terminal: NodeJS.WriteStream): MutableOutput {
  const writable = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      if (!output.muted) terminal.write(chunk);
      done();
    },
  });
  const stream = Object.defineProperties(writable, {
    columns: { get: () => terminal.columns },
    rows: { get: () => terminal.rows },
    isTTY: { get: () => terminal.isTTY },
  }) as MutableOutput['stream'];
  const resized = () => void stream.emit('resize');
  terminal.on('resize', resized);
  const output: MutableOutput = {
    stream,
    muted: false,
    close: () => void terminal.off('resize', resized),
  };
  return output;
}

const QUOTES = '"""';

/** Makes messages of lines: `\` at the end of a line continues it, and `"""` opens and closes a block. */
interface LineJoiner {
  /** The message that this line completes; null while it is not complete. */
  push(line: string): string | null;
  /** What there is of an unfinished message, which is then forgotten; null if there is none. */
  take(): string | null;
  readonly open: boolean;
}

export function createLineJoiner(): LineJoiner {
  let parts: string[] = [];
  let quoted = false;

  function take(): string | null {
    const message = parts.length > 0 ? parts.join('\n').trim() : null;
    parts = [];
    quoted = false;
    return message;
  }

  return {
    push(line) {
      let rest = line;
      if (parts.length === 0 && !quoted && rest.trimStart().startsWith(QUOTES)) {
        quoted = true;
        rest = rest.trimStart().slice(QUOTES.length);
      }
      if (quoted) {
        const ends = rest.trimEnd().endsWith(QUOTES);
        parts.push(ends ? rest.trimEnd().slice(0, -QUOTES.length) : rest);
        return ends ? take() : null;
      }
      // Two backslashes are one that a person wants to keep.
      const continued = /(?<!\\)\\$/.test(rest);
      parts.push(continued ? rest.slice(0, -1) : rest);
      return continued ? null : take();
    },
    take,
    get open() {
      return parts.length > 0 || quoted;
    },
  };
}
