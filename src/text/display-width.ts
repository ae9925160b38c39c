const wide =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u;
const withoutWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Whether a character fills two columns of a terminal; lines may break before and after it. */
export function isWide(character: string): boolean {
  return wide.test(character);
}

/** The columns that a visible text fills. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
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
  for (const character of text) {
    used += displayWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return width < 1 ? '' : `${kept.trimEnd()}…`;
}
