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
