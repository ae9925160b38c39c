const wide =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u;
const withoutWidth = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;

/** Emoji by variation selector, and flags. */
const emoji = /^(?:\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u;
/** Created when it is needed: loading its data takes 15 ms. */
let segmenter: Intl.Segmenter | undefined;
const oneColumnEach = /^[\x20-\x7e]*$/;

/** The graphemes of a text: an accent or a joined emoji is part of one character. */
export function splitGraphemes(text: string): string[] {
  if (oneColumnEach.test(text)) return text.split('');
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Whether a character takes two columns of a terminal. Lines may break before and after it. */
export function isWideCharacter(character: string): boolean {
  return wide.test(character) || emoji.test(character);
}

/** The number of terminal columns of a visible text. */
export function displayWidth(text: string): number {
  if (oneColumnEach.test(text)) return text.length;
  let width = 0;
  for (const character of splitGraphemes(text)) {
    if (isWideCharacter(character)) width += 2;
    else if (!withoutWidth.test(character)) width += 1;
  }
  return width;
}

/** Cuts a text to a number of columns, with an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const character of splitGraphemes(text)) {
    used += displayWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return width < 1 ? '' : `${kept.trimEnd()}…`;
}
