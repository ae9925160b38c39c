import { styleText } from 'node:util';
import { AppError } from '../../faults/app-error.ts';
import { visibleText } from '../../text/visible-text.ts';

export interface ProcessStreams {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

/** Whether a line can be erased and colours are shown: neither in a pipe nor on a dumb terminal. */
export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && stream.getColorDepth() > 1;
}

const ERASE_LINE = '\r\x1b[2K';
/** The streams on which a status line is drawn. */
const drawn = new WeakSet<NodeJS.WriteStream>();

export type TextStyle = Parameters<typeof styleText>[0];

const MAX_WIDTH = 110;

/** Output for people. Text from documents reaches it only through `text` and `link`, which remove escape sequences. */
export interface Terminal {
  /** Whether a person reads it, so that lines are wrapped. */
  readonly interactive: boolean;
  readonly colours: boolean;
  readonly width: number;
  /** Erases the status line, if there is one. */
  write(text: string): void;
  /** Replaces the status line: the last line of the screen, which is erased later. */
  status(text: string): void;
  text(text: string, style?: TextStyle): string;
  /** A hyperlink where the terminal supports it, else the text. */
  link(url: string, text: string, style?: TextStyle): string;
}

export function createTerminal(
  stream: NodeJS.WriteStream,
  { plain = false }: { plain?: boolean } = {},
): Terminal {
  const colours = !plain && canRedraw(stream);
  const text: Terminal['text'] = (content, style) => {
    const safe = visibleText(content);
    return style === undefined || plain ? safe : styleText(style, safe, { stream });
  };
  return {
    interactive: stream.isTTY === true,
    colours,
    // Terminals of build servers may have no size, or the size 0.
    width: Math.min(stream.columns || 80, MAX_WIDTH),
    write(content) {
      stream.write(drawn.delete(stream) ? ERASE_LINE + content : content);
    },
    status(content) {
      stream.write(ERASE_LINE + content);
      if (content === '') drawn.delete(stream);
      else drawn.add(stream);
    },
    text,
    link(url, content, style) {
      const target = URL.parse(url)?.href;
      if (!colours || target === undefined) return text(content, style);
      return `\x1b]8;;${target}\x1b\\${text(content, style)}\x1b]8;;\x1b\\`;
    },
  };
}

/** Infinite for a pipe, whose reader expects unbroken lines. */
export function wrapWidth(terminal: Terminal): number {
  return terminal.interactive ? terminal.width : Number.POSITIVE_INFINITY;
}

/** While another program uses the terminal, stdin is not read and Ctrl-C is left to that program. */
export async function releaseTerminal<T>(stdin: NodeJS.ReadStream, work: () => Promise<T>): Promise<T> {
  const wasRaw = stdin.isTTY === true && stdin.isRaw;
  const wasFlowing = stdin.readableFlowing === true;
  if (wasRaw) stdin.setRawMode(false);
  if (wasFlowing) stdin.pause();
  const interrupts = process.listeners('SIGINT');
  const ignoreSignal = () => {};
  process.removeAllListeners('SIGINT').on('SIGINT', ignoreSignal);
  try {
    return await work();
  } finally {
    process.off('SIGINT', ignoreSignal);
    for (const listener of interrupts) process.on('SIGINT', listener);
    if (wasRaw) stdin.setRawMode(true);
    if (wasFlowing) stdin.resume();
  }
}

/** Throws `invalid_input` if stdin is not a terminal. */
export async function confirmDeletion(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new AppError('invalid_input', 'Deleting needs confirmation, and stdin is not a terminal.', {
      hint: 'Add --yes to skip the confirmation.',
    });
  }
  const isConfirmed = await askYesOrNo(question);
  if (!isConfirmed) process.stderr.write('Nothing was deleted.\n');
  return isConfirmed;
}

/** No is the default. Stdin must be a terminal. */
export async function askYesOrNo(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`${question} [y/N] `);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
