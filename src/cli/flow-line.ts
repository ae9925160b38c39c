import { displayWidth } from './chat/display-width.ts';
import { type Terminal, wrapWidth } from './terminal.ts';

/** A part of a line that looks one way. */
export interface Piece {
  /** Safe and on one line. */
  text: string;
  /** Gives it its look; called once for every line that it reaches into. */
  paint?: (text: string) => string;
  /** What keeps it apart from the piece before; one space unless given. */
  gap?: string;
}

/**
 * Pieces one after the other. Where they do not fit on a line of a person's terminal they go on below, indented,
 * and no word is broken.
 */
export function flowLine(terminal: Terminal, pieces: readonly Piece[], indent = '    '): string {
  const width = wrapWidth(terminal);
  let shown = '';
  let used = 0;
  for (const [index, { text, paint = (part: string) => part, gap = ' ' }] of pieces.entries()) {
    let part = '';
    let pending = index === 0 ? '' : gap;
    for (const word of text.split(' ')) {
      const needed = displayWidth(pending + word);
      if (used > indent.length && used + needed > width) {
        shown += `${part === '' ? '' : paint(part)}\n${indent}`;
        used = indent.length + displayWidth(word);
        part = word;
      } else if (part === '') {
        shown += pending;
        used += needed;
        part = word;
      } else {
        used += needed;
        part += pending + word;
      }
      pending = ' ';
    }
    shown += paint(part);
  }
  return shown;
}
