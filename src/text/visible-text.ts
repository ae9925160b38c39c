// A string sequence (OSC, DCS, SOS, PM, APC) goes with its payload, but only when it is terminated: an
// unterminated one loses its introducer and stays readable. No payload holds an introducer, which keeps
// the match linear in the length of the text.
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
 * A text that is safe to print: without terminal escapes, control characters other than line feed and tab,
 * and marks that reorder what is read. Line and paragraph separators become line feeds.
 */
export function visibleText(text: string): string {
  return text.replace(invisible, '').replace(/[\u2028\u2029]/g, '\n');
}

/** A visible text on one line of at most `max` characters, with an ellipsis where it was cut. */
export function oneLine(text: string, max: number): string {
  const line = visibleText(text).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${cutText(line, max - 1).trimEnd()}…`.slice(0, Math.max(0, max));
}

/** The first `max` UTF-16 units of a text, or one less where that would split a code point. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, Math.max(0, splitsPair ? max - 1 : max));
}
