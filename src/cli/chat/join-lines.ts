const QUOTES = '"""';

/** Makes messages of lines: `\` at the end of a line continues it, and `"""` opens and closes a block. */
export interface LineJoiner {
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
