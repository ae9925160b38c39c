import { stripVTControlCharacters } from 'node:util';
import { charactersOf, displayWidth, isWide } from '../../text/display-width.ts';
import { visibleText } from '../../text/visible-text.ts';
import { type Style, type Terminal, wrapWidth } from './terminal.ts';

/**
 * Breaks one line into several of at most `width` columns: at spaces, between wide characters, and after a sign in words
 * that are longer than a line.
 */
export function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    let gap = ' ';
    for (const part of unbreakable(word, width)) {
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

/** Where a path, an address or a name of many parts may go on below. */
const AFTER_SIGN = /(?<=[/\\])(?=[^/\\])|(?<=\w[.,:;=?&#@_-])(?=\w)/;

/** The parts of a word that stay together: each wide character is one of its own. */
function unbreakable(word: string, width: number): string[] {
  const parts = [''];
  let afterWide = false;
  for (const character of charactersOf(word)) {
    const begins = isWide(character) || afterWide;
    if (begins && parts.at(-1) !== '') parts.push(character);
    else parts.push((parts.pop() ?? '') + character);
    afterWide = isWide(character);
  }
  return parts.flatMap((part) => (displayWidth(part) > width ? part.split(AFTER_SIGN) : [part]));
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
 * Pieces one after the other. Where they do not fit on a line of a person's terminal they go on below, indented; only
 * words that are longer than a line are broken, after a sign.
 */
export function flowLine(terminal: Terminal, pieces: readonly Piece[], indent = '    '): string {
  const width = wrapWidth(terminal);
  let shown = '';
  let used = 0;
  for (const [index, { text, paint = (part: string) => part, gap = ' ' }] of pieces.entries()) {
    let part = '';
    let pending = index === 0 ? '' : gap;
    for (const word of text.split(' ')) {
      for (const together of unbreakable(word, width - indent.length)) {
        const needed = displayWidth(pending + together);
        if (used > indent.length && used + needed > width) {
          shown += `${part === '' ? '' : paint(part)}${pending.trimEnd()}\n${indent}`;
          used = indent.length + displayWidth(together);
          part = together;
        } else if (part === '') {
          shown += pending;
          used += needed;
          part = together;
        } else {
          used += needed;
          part += pending + together;
        }
        pending = '';
      }
      pending = ' ';
    }
    shown += paint(part);
  }
  return shown;
}

/** Where text for a person or a program is laid out. */
export interface Look {
  terminal: Terminal;
  /** The columns of a line; infinite where a program reads. */
  width: number;
}

/** A stretch of text that looks one way. A line feed in it breaks the line. */
export interface Run {
  text: string;
  /** Called for every word, so that what was shown of a text does not change when more of it comes. */
  paint: (text: string) => string;
}

/**
 * Runs as lines of at most `width` columns, broken at spaces and between wide characters. A word that is longer than
 * a line goes on below after a sign, and where there is none it is left to the terminal, unless words may be broken. What stands before the first word of a line is left out,
 * unless it is to be kept.
 */
export function flowRuns(
  runs: readonly Run[],
  width: number,
  { breakWords = false, keepIndents = false }: { breakWords?: boolean; keepIndents?: boolean } = {},
): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  let gap: Run | null = null;
  let word: Run[] = [];

  function breakLine(): void {
    lines.push(line);
    line = '';
    used = 0;
    gap = null;
  }

  function placeWord(): void {
    const needed = word.reduce((sum, { text }) => sum + displayWidth(text), 0);
    if (needed === 0) return;
    if (used > 0 && used + (gap?.text.length ?? 0) + needed > width) breakLine();
    if (gap !== null && (used > 0 || keepIndents)) {
      line += gap.paint(gap.text);
      used += gap.text.length;
    }
    for (const { text, paint } of word) line += paint(text);
    used += needed;
    gap = null;
    word = [];
  }

  for (const { text, paint } of runs) {
    for (const part of text.split(/(\n|[^\S\n]+)/)) {
      if (part === '') continue;
      if (part === '\n') {
        placeWord();
        breakLine();
      } else if (/^\s/.test(part)) {
        placeWord();
        gap = { text: part.replaceAll('\t', '    '), paint };
      } else {
        const pieces = unbreakable(part, width).flatMap((piece) =>
          breakWords && displayWidth(piece) > width ? charactersOf(piece) : [piece],
        );
        pieces.forEach((piece, index) => {
          if (index > 0) placeWord();
          word.push({ text: piece, paint });
        });
      }
    }
  }
  placeWord();
  return line === '' ? lines : [...lines, line];
}

/** The columns of a text that has its looks already. */
export function visibleWidth(painted: string): number {
  return displayWidth(stripVTControlCharacters(painted));
}

/** Sentences for a person, wrapped, or as they are for a pipe. */
export function renderText(
  terminal: Terminal,
  text: string,
  { style, indent = '' }: { style?: Style; indent?: string } = {},
): void {
  const runs = [{ text: visibleText(text.trim()), paint: (part: string) => terminal.text(part, style) }];
  const lines = flowRuns(runs, wrapWidth(terminal) - indent.length);
  for (const line of lines) terminal.write(`${indent}${line}\n`);
}
