import { visibleText } from './visible-text.ts';

/** A sequence that never ends is given up after so many characters, so that it cannot hide an answer. */
const MAX_HELD = 1024;

// What may still become an escape sequence: a string sequence without its terminator, a control sequence
// without its last byte, a lone escape. A lone half of a surrogate pair waits for the other half.
const unfinished =
  /(?:(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*\x1b?|(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[ -/]*|[\ud800-\udbff])$/;

/** `visibleText` for a text that arrives in pieces: an escape that is split between two of them is caught. */
interface VisibleStream {
  /** What can be shown by now. */
  push(delta: string): string;
  /** The rest, at the end of the text. */
  end(): string;
}

export function createVisibleStream(): VisibleStream {
  let held = '';

  function release(length: number): string {
    const shown = visibleText(held.slice(0, length));
    held = held.slice(length);
    return shown;
  }

  return {
    push(delta) {
      held += delta;
      const start = held.search(unfinished);
      return release(start < 0 || held.length - start > MAX_HELD ? held.length : start);
    },
    end: () => release(held.length),
  };
}
