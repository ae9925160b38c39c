/** A piece of text as PDF places it: `transform` holds the font size and the position. */
export interface TextItem {
  str: string;
  transform: number[];
  width: number;
  hasEOL: boolean;
}

/** One line of a page; `x` and `y` are where it begins, in points from the lower left corner. */
export interface Line {
  text: string;
  size: number;
  x: number;
  y: number;
}

/** Joins the pieces of a page, which come in reading order, to lines. */
export function toLines(items: readonly TextItem[]): Line[] {
  const lines: Line[] = [];
  let line: Line | undefined;
  let right = 0;
  for (const { str, transform, width, hasEOL } of items) {
    const [, , skew = 0, scale = 0, x = 0, y = 0] = transform;
    const size = Math.hypot(skew, scale);
    if (str.trim() !== '') {
      if (
        line === undefined ||
        Math.abs(y - line.y) > Math.max(size, line.size) / 2 ||
        x < right - size * 2
      ) {
        line = { text: '', size, x, y };
        lines.push(line);
      } else if (x - right > size * 0.15) {
        line.text += ' ';
      }
      // A line is as large as its largest text: a heading may begin with a small number.
      line.size = Math.max(line.size, size);
      line.text += str;
      right = x + width;
    } else if (line !== undefined && str !== '') {
      line.text += ' ';
    }
    if (hasEOL) line = undefined;
  }
  return lines.map((each) => ({ ...each, text: tidy(each.text) })).filter((each) => each.text !== '');
}

/** Single spaces, and one ellipsis for the dots that lead to a page number. */
function tidy(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/(?: ?\.){5,} ?/g, ' … ')
    .trim();
}
