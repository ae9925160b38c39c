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

/** A terminator with its closing signs and spaces, or a line break: where a sentence may end (UAX 29). */
const BOUNDARY =
  /(?:([.\u2024\uFE52\uFF0E])|\p{Sentence_Terminal})[\p{M}\p{Cf}]*(?:[\p{Ps}\p{Pe}\p{Pi}\p{Pf}"'\u275B-\u2760][\p{M}\p{Cf}]*)*(?:(?![\n\r\u0085\u2028\u2029])\s)*(\r\n|[\n\r\u0085\u2028\u2029])?|(\r\n|[\n\r\u0085\u2028\u2029])/gu;
/** What continues a sentence after any terminator. */
const CONTINUES =
  /[,\-:;\u2013\u2014\u055D\u060C\u061D\u07F8\u1802\u1808\u3001\uFE10\uFE11\uFE13\uFE31\uFE32\uFE50\uFE51\uFE55\uFE58\uFE63\uFF0C\uFF0D\uFF1A\uFF64]|\p{Sentence_Terminal}/uy;
/** What continues one after a full stop: a word in lower case, also behind digits and signs. */
const CONTINUES_AFTER_STOP = /[^\p{L}\p{Sentence_Terminal}\n\r\u0085\u2028\u2029]{0,200}\p{Lowercase}/uy;
const WITHIN_NUMBER_OR_NAME =
  /(?<=[.\u2024\uFE52\uFF0E])\p{Nd}|(?<=[\p{Lu}\p{Ll}][.\u2024\uFE52\uFF0E])\p{Lu}/uy;

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
  const readable = maskCode(prose);
  const sentences: TextRange[] = [];
  let start = 0;
  for (const boundary of findSentenceEnds(readable)) {
    // Includes the emphasis that ends with the sentence: "**Control.** It tracks".
    const end = skipEmphasis(readable, boundary);
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

/**
 * The ends of sentences by the rules of Unicode, the end of the text last. Not by `Intl.Segmenter`, whose result depends
 * on the version of Node, and which takes 15 ms to load.
 */
export function findSentenceEnds(text: string): number[] {
  const ends: number[] = [];
  for (const { 0: found, 1: stop, 2: lineEnd, 3: onlyLineEnd, index } of text.matchAll(BOUNDARY)) {
    const end = index + found.length;
    if (end >= text.length) break;
    const continues =
      lineEnd === undefined &&
      onlyLineEnd === undefined &&
      (matchesAt(CONTINUES, text, end) ||
        (stop !== undefined &&
          (matchesAt(CONTINUES_AFTER_STOP, text, end) || matchesAt(WITHIN_NUMBER_OR_NAME, text, end))));
    if (!continues) ends.push(end);
  }
  return text === '' ? ends : [...ends, text.length];
}

function matchesAt(sticky: RegExp, text: string, index: number): boolean {
  sticky.lastIndex = index;
  return sticky.test(text);
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
