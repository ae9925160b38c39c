import { styleText } from 'node:util';
import { AppError } from '../../faults/app-error.ts';
import { visibleText } from '../../text/visible-text.ts';

/** The three streams of the process, or stand-ins for them. */
export interface Streams {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

/** Whether lines can be redrawn there: not in a pipe, and not on a dumb terminal, which also has no colours. */
export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && stream.getColorDepth() > 1;
}

export type Style = Parameters<typeof styleText>[0];

/** Text for people on one stream: colours and links only where they can be shown, and nothing that a document smuggled in. */
export interface Terminal {
  readonly interactive: boolean;
  /** Whether it shows colours and links. */
  readonly colours: boolean;
  readonly width: number;
  write(text: string): void;
  /** Untrusted text, made safe and styled. */
  text(text: string, style?: Style): string;
  /** A clickable text where links are supported, else the text alone. */
  link(url: string, text: string, style?: Style): string;
}

/** `plain` is for those who want words alone even where there are colours. */
export function createTerminal(
  stream: NodeJS.WriteStream,
  { plain = false }: { plain?: boolean } = {},
): Terminal {
  // The stream knows what the environment says: no colours without a TTY, with NO_COLOR or on a dumb terminal.
  const colours = !plain && canRedraw(stream);
  const text: Terminal['text'] = (content, style) => {
    const safe = visibleText(content);
    return style === undefined || plain ? safe : styleText(style, safe, { stream });
  };
  return {
    interactive: stream.isTTY === true,
    colours,
    // Some terminals, such as those of build servers, have no size or one of nothing.
    width: Math.min(stream.columns || 80, 110),
    write: (content) => void stream.write(content),
    text,
    link(url, content, style) {
      const target = URL.parse(url)?.href;
      if (!colours || target === undefined) return text(content, style);
      return `\x1b]8;;${target}\x1b\\${text(content, style)}\x1b]8;;\x1b\\`;
    },
  };
}

/** Lines are broken for the eyes of a person, not for a program that reads them from a pipe. */
export function wrapWidth(terminal: Terminal): number {
  return terminal.interactive ? terminal.width : Number.POSITIVE_INFINITY;
}

/** Lends the terminal to another program: nobody else reads what is typed meanwhile. */
export async function withTerminal<T>(stdin: NodeJS.ReadStream, work: () => Promise<T>): Promise<T> {
  const wasRaw = stdin.isTTY === true && stdin.isRaw;
  const wasFlowing = stdin.readableFlowing === true;
  if (wasRaw) stdin.setRawMode(false);
  if (wasFlowing) stdin.pause();
  try {
    return await work();
  } finally {
    if (wasRaw) stdin.setRawMode(true);
    if (wasFlowing) stdin.resume();
  }
}

/** Asks before something is lost. Throws `invalid_input` where there is no terminal to ask on. */
export async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new AppError(
      'invalid_input',
      'Deleting needs a confirmation, and there is no terminal to ask on.',
      { hint: 'Give --yes if you are sure.' },
    );
  }
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`${question} [y/N] `);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}
