import { stripVTControlCharacters } from 'node:util';
import { displayWidth, isWideCharacter, splitGraphemes } from '../../text/display-width.ts';
import { visibleText } from '../../text/visible-text.ts';
import { type Terminal, type TextStyle, wrapWidth } from './terminal.ts';

/** Text in one style. A line feed in it starts a new line. */
export interface TextRun {
  text: string;
  paint?: (text: string) => string;
}

interface WrapOptions {
  /** The indent of every line but the first. The lines are returned without it. */
  indent?: string;
  /** Breaks words that are longer than a line anywhere; otherwise only after a separator. */
  breakWords?: boolean;
  /** Keeps the spaces at the start of every line, not only of the first. */
  keepIndents?: boolean;
  /** Paints each word separately, so that printing a line in parts never changes what was printed. */
  paintWords?: boolean;
}

/** Breaks runs into lines of at most `width` columns, at spaces and between wide characters. */
export function wrapRuns(
  runs: readonly TextRun[],
  width: number,
  { indent = '', breakWords = false, keepIndents = false, paintWords = false }: WrapOptions = {},
): string[] {
  const lines: string[] = [];
  let line: TextRun[] = [];
  let used = 0;
  let gap: TextRun | null = null;
  let word: TextRun[] = [];

  function endLine(): void {
    lines.push(paintLine(line, paintWords));
    line = [];
    used = 0;
    gap = null;
  }

  function endWord(): void {
    const needed = word.reduce((sum, { text }) => sum + displayWidth(text), 0);
    if (needed === 0) return;
    const limit = lines.length === 0 ? width : width - indent.length;
    if (used > 0 && used + (gap?.text.length ?? 0) + needed > limit) endLine();
    if (gap !== null && (used > 0 || keepIndents || lines.length === 0)) {
      line.push(gap);
      used += gap.text.length;
    }
    line.push(...word);
    used += needed;
    gap = null;
    word = [];
  }

  for (const run of runs) {
    for (const part of run.text.split(/(\n|[^\S\n]+)/)) {
      if (part === '') continue;
      if (part === '\n') {
        endWord();
        endLine();
      } else if (/^\s/.test(part)) {
        endWord();
        gap = { ...run, text: part.replaceAll('\t', '    ') };
      } else {
        splitWord(part, width - indent.length, breakWords).forEach((text, index) => {
          if (index > 0) endWord();
          word.push({ ...run, text });
        });
      }
    }
  }
  endWord();
  return line.length === 0 ? lines : [...lines, paintLine(line, paintWords)];
}

function paintLine(line: readonly TextRun[], paintWords: boolean): string {
  let painted = '';
  for (let at = 0; at < line.length; at += 1) {
    const { paint = (text: string) => text } = line[at] ?? {};
    let text = line[at]?.text ?? '';
    while (!paintWords && at + 1 < line.length && line[at + 1]?.paint === line[at]?.paint) {
      at += 1;
      text += line[at]?.text ?? '';
    }
    painted += paint(text);
  }
  return painted;
}

/** Where a path, an address or an identifier may be broken. */
const AFTER_SEPARATOR = /(?<=[/\\])(?=[^/\\])|(?<=\w[.,:;=?&#@_-])(?=\w)/;

/** The parts of a word between which a line may be broken. */
function splitWord(word: string, width: number, breakWords: boolean): string[] {
  const parts: string[] = [];
  let joins = false;
  for (const character of splitGraphemes(word)) {
    if (joins && !isWideCharacter(character)) parts.push((parts.pop() ?? '') + character);
    else parts.push(character);
    joins = !isWideCharacter(character);
  }
  return parts
    .flatMap((part) => (displayWidth(part) > width ? part.split(AFTER_SEPARATOR) : [part]))
    .flatMap((part) => (breakWords && displayWidth(part) > width ? splitGraphemes(part) : [part]));
}

export function wrapLine(line: string, width: number): string[] {
  return wrapRuns([{ text: line }], width);
}

export interface LinePiece extends TextRun {
  /** What separates it from the piece before; a space unless given. */
  gap?: string;
}

/** Pieces on one line. On a terminal that is too narrow they continue below, indented. */
export function wrapPieces(terminal: Terminal, pieces: readonly LinePiece[], indent = '    '): string {
  const runs = pieces.flatMap(({ gap = ' ', ...run }, index) => (index === 0 ? [run] : [{ text: gap }, run]));
  return wrapRuns(runs, wrapWidth(terminal), { indent }).join(`\n${indent}`);
}

export function visibleWidth(painted: string): number {
  return displayWidth(stripVTControlCharacters(painted));
}

/** Writes text: wrapped for a person, in one line for a pipe. */
export function renderText(
  terminal: Terminal,
  text: string,
  { style, indent = '' }: { style?: TextStyle; indent?: string } = {},
): void {
  const run = { text: visibleText(text.trim()), paint: (part: string) => terminal.text(part, style) };
  for (const line of wrapRuns([run], wrapWidth(terminal) - indent.length)) {
    terminal.write(`${indent}${line}\n`);
  }
}
