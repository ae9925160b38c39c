import { createInterface, type Key } from 'node:readline';
import { canRedraw, createTerminal, type ProcessStreams } from '../terminal/terminal.ts';

const PROMPT = '> ';
const CONTINUED = '… ';

export interface QuestionReaderOptions {
  streams: ProcessStreams;
  signal: AbortSignal;
  /** Past messages for the arrow keys, oldest first. */
  history: readonly string[];
  complete(line: string): Promise<string[]>;
  /** The command that Tab runs at an empty prompt, if there is one. */
  onEmptyTab(): string | undefined;
  onMessage(message: string): void;
  /** Text to edit at the next prompt; empty if there is none. */
  takeDraft(): string;
  /** Called on Ctrl-C while a message is being answered. */
  onInterrupt(): void;
}

/** Messages until the input ends: typed at a prompt, or one per line from a pipe. */
export function readQuestions(source: QuestionReaderOptions): AsyncGenerator<string, void, undefined> {
  return source.streams.stdin.isTTY === true
    ? readTypedQuestions(source)
    : readPipedQuestions(source.streams.stdin, source.signal);
}

async function* readPipedQuestions(
  stdin: NodeJS.ReadStream,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const joiner = createMessageJoiner();
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
    const message = joiner.push(line);
    if (message !== null && message.trim() !== '') yield message;
  }
  const rest = joiner.take();
  if (rest !== null && rest !== '') yield rest;
}

/**
 * While a message is being answered, typed text is buffered but not shown, and Ctrl-C calls `onInterrupt`. At the
 * prompt, Ctrl-C clears the line; pressed twice it ends the input, like Ctrl-D.
 */
async function* readTypedQuestions(source: QuestionReaderOptions): AsyncGenerator<string, void, undefined> {
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
    completer(line: string, done: (error: null, found: [string[], string]) => void) {
      if (line === '') runEmptyTab();
      source.complete(line).then((found) => done(null, [found, line]));
    },
    signal: source.signal,
  });
  const joiner = createMessageJoiner();
  const messages: { text: string; shown: boolean }[] = [];
  /** Newest first, as `recalled`, which readline fills with single lines. */
  let past = source.history.toReversed();
  let recalled: string[] = [];
  let pasted: string[] = [];
  let pasting = false;
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
    if (pasting) prompt();
    else takeMessage();
  }

  function takeMessage(): void {
    const message = joiner.push(takePasted());
    if (message === null || message.trim() === '') {
      prompt();
    } else {
      source.onMessage(message);
      remember(message.replace(/\s+/g, ' ').trim());
      messages.push({ text: message, shown: !answering });
      wake();
    }
  }

  /** Makes the arrow keys recall whole messages. */
  function remember(message: string): void {
    past = [message, ...past.filter((line) => line !== message)];
    recalled.splice(0, recalled.length, ...past);
  }

  function runEmptyTab(): void {
    if (answering || pasting || joiner.open || pasted.length + messages.length > 0) return;
    const text = source.onEmptyTab();
    if (text === undefined) return;
    screen.write(`${text}\n`);
    messages.push({ text, shown: true });
    wake();
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
      screen.write(
        typed ? '^C\n' : `\n${terminal.text('Press Ctrl-C again, Ctrl-D or type /quit to leave.', 'dim')}\n`,
      );
      prompt();
    }
  }

  function clearTypedText(): void {
    joiner.take();
    takePasted();
    output.muted = true;
    readline.write(null, { ctrl: true, name: 'e' });
    readline.write(null, { ctrl: true, name: 'u' });
    output.muted = false;
  }

  /** Makes the terminal mark pasted text (bracketed paste). */
  function setPasteMode(on: boolean): void {
    if (canRedraw(screen)) screen.write(on ? '\x1b[?2004h' : '\x1b[?2004l');
  }

  function watchPaste(_: string | undefined, key: Key): void {
    if (key.name === 'paste-start') pasting = true;
    if (key.name === 'paste-end') pasting = false;
  }

  readline.on('line', takeLine);
  readline.on('history', (lines) => {
    recalled = lines;
  });
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
        readline.write(source.takeDraft().replace(/\s*\n\s*/g, ' '));
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const message = messages.shift();
      if (message === undefined) break;
      // Typed while the answer was printed.
      if (!message.shown) screen.write(`${terminal.text(`${PROMPT}${message.text}`)}\n`);
      answering = true;
      output.muted = true;
      yield message.text;
    }
    if (stdout.isTTY === true) screen.write('\n');
  } finally {
    output.muted = true;
    stdin.off('keypress', watchPaste);
    readline.close();
    // A signal may have closed readline while another program ran, after which stdin was resumed.
    stdin.setRawMode(false).pause();
    setPasteMode(false);
  }
}

/** The terminal for readline, which prints nothing on it while it is muted. */
function createMutableOutput(terminal: NodeJS.WriteStream) {
  const write = (text: string) => output.muted || terminal.write(text);
  const stream = new Proxy(terminal, {
    get(_, key) {
      const value: unknown = key === 'write' ? write : Reflect.get(terminal, key);
      return typeof value === 'function' ? value.bind(terminal) : value;
    },
  });
  const output = { stream, muted: false };
  return output;
}

/** Joins lines to messages: `\` at the end continues a line. */
export function createMessageJoiner() {
  let parts: string[] = [];

  /** Returns and clears an unfinished message; null if there is none. */
  function take(): string | null {
    const message = parts.length > 0 ? parts.join('\n').trim() : null;
    parts = [];
    return message;
  }

  return {
    /** The message that this line completes; null while it is not complete. */
    push(line: string): string | null {
      // Two backslashes do not continue the line.
      const continued = /(?<!\\)\\$/.test(line);
      parts.push(continued ? line.slice(0, -1) : line);
      return continued ? null : take();
    },
    take,
    get open() {
      return parts.length > 0;
    },
  };
}
