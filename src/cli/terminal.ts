import { styleText } from 'node:util';
import { visibleText } from '../domain/visible-text.ts';

type Style = Parameters<typeof styleText>[0];

/** Text for people on one stream: colours and links only where they can be shown, and nothing that a document smuggled in. */
export interface Terminal {
  readonly interactive: boolean;
  readonly width: number;
  write(text: string): void;
  /** Untrusted text, made safe and styled. */
  text(text: string, style?: Style): string;
  /** A clickable text where links are supported, else the text alone. */
  link(url: string, text: string, style?: Style): string;
}

export function createTerminal(stream: NodeJS.WriteStream): Terminal {
  // The stream knows what the environment says: no colours without a TTY, with NO_COLOR or on a dumb terminal.
  const colours = stream.isTTY === true && stream.getColorDepth() > 1;
  const text: Terminal['text'] = (content, style) => {
    const safe = visibleText(content);
    return style === undefined ? safe : styleText(style, safe, { stream });
  };
  return {
    interactive: stream.isTTY === true,
    width: Math.min(stream.columns ?? 100, 110),
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
