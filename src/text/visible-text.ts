// Terminated string sequences (OSC, DCS, SOS, PM, APC) are removed with their payload; of unterminated ones only the
// introducer is removed. A payload contains no introducer, which keeps matching linear.
const stringSequence = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)/;
const controlSequence = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/;
const shortEscape = /\x1b[ -/]*[0-~]/;
const controlCharacter = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const directionMark = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

const invisible = new RegExp(
  [stringSequence, controlSequence, shortEscape, controlCharacter, directionMark]
    .map((pattern) => pattern.source)
    .join('|'),
  'g',
);

/**
 * Makes a text safe to print: removes terminal escapes, control characters other than line feed and tab, and characters
 * that reorder text. Line and paragraph separators become line feeds.
 */
export function visibleText(text: string): string {
  return text.replace(invisible, '').replace(/[\u2028\u2029]/g, '\n');
}

/** A visible text on one line of at most `max` characters, cut with an ellipsis. */
export function oneLine(text: string, max: number): string {
  const line = visibleText(text).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${cutText(line, max - 1).trimEnd()}…`.slice(0, Math.max(0, max));
}

/** The first `max` UTF-16 units of a text, or one less if that would split a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, Math.max(0, splitsPair ? max - 1 : max));
}

/** An escape sequence that is longer is not held back, so that it cannot hide an answer. */
const MAX_HELD = 1024;

/** An incomplete escape sequence, or half of a surrogate pair, at the end of a text. */
const incomplete =
  /(?:(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*\x1b?|(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[ -/]*|[\ud800-\udbff])$/;

/** Applies `visibleText` to a text that arrives in pieces, even if an escape sequence is split between two. */
export function createVisibleStream() {
  let held = '';

  function release(length: number): string {
    const shown = visibleText(held.slice(0, length));
    held = held.slice(length);
    return shown;
  }

  return {
    /** Returns the text that can be shown now. */
    push(delta: string): string {
      held += delta;
      const start = held.search(incomplete);
      return release(start < 0 || held.length - start > MAX_HELD ? held.length : start);
    },
    /** Returns the rest. */
    end: () => release(held.length),
  };
}
