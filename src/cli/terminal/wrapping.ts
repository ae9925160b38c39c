import { displayWidth, isWide } from '../../text/display-width.ts';
import { type Terminal, wrapWidth } from './terminal.ts';

/** Breaks one line into several of at most `width` columns, at spaces and between wide characters where there are any. */
export function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    let gap = ' ';
    for (const part of unbreakable(word)) {
      if (current !== '' && displayWidth(current + gap + part) > width) {
        lines.push(current);
        current = part;
      } else {
        current = current === '' ? part : current + gap + part;
      }
      gap = '';
    }
  }
  return current === '' ? lines : [...lines, current];
}

/** The parts of a word that stay together: each wide character is one of its own. */
function unbreakable(word: string): string[] {
  const parts = [''];
  let afterWide = false;
  for (const character of word) {
    const begins = isWide(character) || afterWide;
    if (begins && parts.at(-1) !== '') parts.push(character);
    else parts.push((parts.pop() ?? '') + character);
    afterWide = isWide(character);
  }
  return parts;
}

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

const FENCE = /^\s*```/;

/** Writes a text that arrives in pieces, with lines of at most `width` columns. */
interface WrappingWriter {
  write(text: string): void;
  /** Ends the last line, if one was begun. */
  end(): void;
}

/**
 * Breaks at spaces and between wide characters. The first word of a line goes out character by character; a
 * later one is held until it is known to fit, which is at most until the space after it. Words that are
 * longer than a line, and lines of code between fences, are left to the terminal.
 */
export function createWrappingWriter(write: (text: string) => void, width: number): WrappingWriter {
  let line = '';
  let column = 0;
  let space = '';
  let word = '';
  /** Whether the last character that was written is a wide one. */
  let afterWide = false;
  let fenced = false;
  let ready = '';

  function emit(text: string): void {
    ready += text;
    line += text;
    column += displayWidth(text);
  }

  function breakLine(): void {
    ready += '\n';
    line = '';
    column = 0;
    space = '';
    afterWide = false;
  }

  function emitWord(): void {
    emit(space + word);
    space = '';
    word = '';
    afterWide = false;
  }

  function placeWord(): void {
    if (word === '') return;
    if (!fenced && line !== '' && column + displayWidth(space + word) > width) breakLine();
    emitWord();
  }

  function take(character: string): void {
    if (character === '\n') {
      placeWord();
      if (FENCE.test(line)) fenced = !fenced;
      breakLine();
    } else if (character === ' ' || character === '\t') {
      placeWord();
      space += character === '\t' ? '    ' : character;
    } else if (isWide(character)) {
      placeWord();
      word = character;
      placeWord();
      afterWide = true;
    } else {
      word += character;
      // What begins a line, goes on from a word already written, or cannot fit any more, need not wait.
      const joins = space === '' && !afterWide;
      if (fenced || line === '' || joins) emitWord();
      else if (column + displayWidth(space + word) > width) placeWord();
    }
  }

  function flush(): void {
    if (ready !== '') write(ready);
    ready = '';
  }

  return {
    write(text) {
      for (const character of text) take(character);
      flush();
    },
    end() {
      placeWord();
      if (line !== '') breakLine();
      flush();
    },
  };
}

/** The text of an answer, wrapped for a person and as it is for a pipe. */
export function renderText(terminal: Terminal, text: string): void {
  const writer = createWrappingWriter((part) => terminal.write(part), wrapWidth(terminal));
  writer.write(terminal.text(text.trim()));
  writer.end();
}
