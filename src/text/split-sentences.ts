import { findCodeSpans, findMarkdownBlocks, type MarkdownBlock, type TextRange } from './markdown-blocks.ts';
import { memoize } from './memoize.ts';
import { cutText } from './visible-text.ts';

interface Sentence extends TextRange {
  heading: boolean;
}

/** A full stop after these ends no sentence, even if a capital follows. Some are units after a number. */
const ABBREVIATION =
  /(?:^|[\s("'“‘[])(?:e\.g|i\.e|cf|vs|viz|approx|resp|incl|fig|figs|eq|eqs|(?<!\d\s)(?:sec|ms)|ch|no|nos|vol|pp?|al|dr|mr|mrs|prof|st|inc|ltd|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|u\.s)\.["'”’)\]]*$/i;
/** As in "J. Smith", but not a unit after a number: "at 4.2 V." may end a sentence. */
const INITIAL = /(?<![^\s("'“‘[])(?<!\d\s?)\p{Lu}\.["'”’)\]]*$/u;
const LONGEST_ABBREVIATION = 24;
const CLOSES_EMPHASIS = /(?<=[.!?…。！？]["'”’)\]]*)[*_]{1,3}(?!\S)[^\S\n]*/y;
const LINE_END = /[\n\r\u2028\u2029\u0085]/g;
const SPACE_WITHIN_LINE = /[^\S\n\r\u2028\u2029\u0085]/;

let segmenter: Intl.Segmenter | undefined;

/**
 * The sentences of a Markdown text outside of fenced code. A sentence never crosses a block; its range excludes white
 * space and bullets.
 */
export function splitSentences(
  text: string,
  blocks: readonly MarkdownBlock[] = findMarkdownBlocks(text),
): Sentence[] {
  return blocks.flatMap(({ kind, content, end }) => {
    if (kind === 'code') return [];
    // Within a block, a line break does not end a sentence.
    const prose = text.slice(content, end).replace(LINE_END, ' ');
    return splitPlainSentences(prose).map((sentence) => ({
      start: content + sentence.start,
      end: content + sentence.end,
      heading: kind === 'heading',
    }));
  });
}

/** The sentences and code blocks of a Markdown text, in order. */
export const splitSentencesAndCode = memoize(
  { size: 64 },
  (text: string): readonly (TextRange & { isCode: boolean })[] => {
    const blocks = findMarkdownBlocks(text);
    const code = blocks.filter(({ kind }) => kind === 'code');
    return [...splitSentences(text, blocks), ...code]
      .map((range) => ({ start: range.start, end: range.end, isCode: 'kind' in range }))
      .sort((a, b) => a.start - b.start);
  },
);

/** The sentences of a plain text. A line break ends one; an abbreviation or text in backticks does not. */
export function splitPlainSentences(prose: string): TextRange[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' });
  const readable = maskCode(prose);
  const sentences: TextRange[] = [];
  let start = 0;
  for (const { index, segment } of segmenter.segment(readable)) {
    // Includes the emphasis that ends with the sentence: "**Control.** It tracks".
    const end = skipEmphasis(readable, index + segment.length);
    if (end < readable.length && (endsWithinWord(readable, end) || endsInAbbreviation(readable, end)))
      continue;
    const written = prose.slice(start, end);
    const trimmed = written.trim();
    const from = start + written.indexOf(trimmed);
    if (trimmed !== '') sentences.push({ start: from, end: from + trimmed.length });
    start = end;
  }
  return sentences;
}

/** As in `sub.*.example.com`. Scripts without spaces end sentences with other signs. */
function endsWithinWord(text: string, end: number): boolean {
  return /[.!?]/.test(text[end - 1] as string) && /\S/.test(text[end] as string);
}

/** The start of a text, at most `max` characters, cut after a sentence or, if none fits, after a word. */
export function cutAtSentence(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = splitPlainSentences(text).findLast((sentence) => sentence.end <= max)?.end;
  if (end !== undefined) return text.slice(0, end);
  const cut = cutText(text, max);
  return /^(.*\S)\s/su.exec(cut)?.[1] ?? cut;
}

function skipEmphasis(text: string, end: number): number {
  CLOSES_EMPHASIS.lastIndex = end;
  return end + (CLOSES_EMPHASIS.exec(text)?.[0].length ?? 0);
}

/** Replaces inline code by as many letters, so that it ends no sentence but may begin one. */
function maskCode(prose: string): string {
  let readable = '';
  let at = 0;
  for (let tick = prose.indexOf('`'); tick >= 0; tick = prose.indexOf('`', at)) {
    const feed = prose.indexOf('\n', tick);
    const end = feed < 0 ? prose.length : feed;
    for (const span of findCodeSpans(prose, { start: tick, end })) {
      readable += `${prose.slice(at, span.start)}${'X'.repeat(span.end - span.start)}`;
      at = span.end;
    }
    readable += prose.slice(at, end);
    at = end;
  }
  return readable + prose.slice(at);
}

function endsInAbbreviation(text: string, end: number): boolean {
  let last = end;
  while (last > 0 && SPACE_WITHIN_LINE.test(text.charAt(last - 1)) && end - last < LONGEST_ABBREVIATION)
    last -= 1;
  const before = text.slice(Math.max(0, last - LONGEST_ABBREVIATION), last);
  return ABBREVIATION.test(before) || INITIAL.test(before);
}
