import { displayWidth, isWide } from './display-width.ts';

const FENCE = /^\s*```/;

/** Writes a text that arrives in pieces, with lines of at most `width` columns. */
export interface WrappingWriter {
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
