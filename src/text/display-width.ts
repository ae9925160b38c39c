const wide =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u;
const withoutWidth = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;

/** Shown as a picture of two columns where a selector asks for it, or several are joined into one. */
const pictured = /^(?:\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const oneColumnEach = /^[\x20-\x7e]*$/;

/** The characters of a text as a reader counts them: an accent or a joined emoji belongs to what it is part of. */
export function charactersOf(text: string): string[] {
  return oneColumnEach.test(text)
    ? text.split('')
    : Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Whether a character fills two columns of a terminal; lines may break before and after it. */
export function isWide(character: string): boolean {
  return wide.test(character) || pictured.test(character);
}

/** The columns that a visible text fills. */
export function displayWidth(text: string): number {
  if (oneColumnEach.test(text)) return text.length;
  let width = 0;
  for (const character of charactersOf(text)) {
    if (isWide(character)) width += 2;
    else if (!withoutWidth.test(character)) width += 1;
  }
  return width;
}

/** The text with spaces after it, up to so many columns. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** The text in at most so many columns, with an ellipsis where it was cut. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const character of charactersOf(text)) {
    used += displayWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return width < 1 ? '' : `${kept.trimEnd()}…`;
}
