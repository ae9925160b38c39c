import { type Block, findBlocks, findCodeSpans, type Range } from './markdown-blocks.ts';
import { itself, remembering } from './remembering.ts';
import { cutText } from './visible-text.ts';

interface Sentence extends Range {
  /** The number of the paragraph, list item or heading that it stands in. */
  block: number;
  heading: boolean;
}

/** After these a full stop ends no sentence, although the segmenter sees a capital follow. After a number, some are units. */
const ABBREVIATION =
  /(?:^|[\s("'“‘[])(?:e\.g|i\.e|cf|vs|viz|approx|resp|incl|fig|figs|eq|eqs|(?<!\d\s)(?:sec|ms)|ch|no|nos|vol|pp?|al|dr|mr|mrs|prof|st|inc|ltd|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|u\.s)\.["'”’)\]]*$/i;
/** Of a name, such as "J. Smith"; after a number it is a unit, too: "at 4.2 V." may end a sentence. */
const INITIAL = /(?<![^\s("'“‘[])(?<!\d\s?)\p{Lu}\.["'”’)\]]*$/u;
const LONGEST_ABBREVIATION = 24;
const CLOSES_EMPHASIS = /(?<=[.!?…。！？]["'”’)\]]*)[*_]{1,3}(?!\S)[^\S\n]*/y;
const LINE_END = /[\n\r\u2028\u2029\u0085]/g;
const SPACE_WITHIN_LINE = /[^\S\n\r\u2028\u2029\u0085]/;

let segmenter: Intl.Segmenter | undefined;

/**
 * The sentences of a Markdown text, without those of fenced code. A sentence never crosses a block; its range
 * leaves out the white space and the bullet around it.
 */
export function splitSentences(text: string, blocks: readonly Block[] = findBlocks(text)): Sentence[] {
  return blocks.flatMap(({ kind, content, end }, block) => {
    if (kind === 'code') return [];
    // Within a block a sentence goes on over the end of a line.
    const prose = text.slice(content, end).replace(LINE_END, ' ');
    return sentencesIn(prose).map((sentence) => ({
      start: content + sentence.start,
      end: content + sentence.end,
      block,
      heading: kind === 'heading',
    }));
  });
}

const MOST_REMEMBERED = 64;

/** Where the sentences and the blocks of code of a Markdown text stand, in order. */
export const sentencesAndCode = remembering(
  { most: MOST_REMEMBERED, keyOf: itself },
  (text: string): readonly (Range & { isCode: boolean })[] => {
    const blocks = findBlocks(text);
    const code = blocks.filter(({ kind }) => kind === 'code');
    return [...splitSentences(text, blocks), ...code]
      .map((range) => ({ start: range.start, end: range.end, isCode: 'kind' in range }))
      .sort((a, b) => a.start - b.start);
  },
);

/**
 * The sentences of a text that is no Markdown, without the white space around them. The end of a line ends one; an
 * abbreviation does not, nor does anything between backticks.
 */
export function sentencesIn(prose: string): Range[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' });
  const readable = withoutCode(prose);
  const sentences: Range[] = [];
  let start = 0;
  for (const { index, segment } of segmenter.segment(readable)) {
    // The segmenter does not know that emphasis is closed with the sentence: "**Control.** It tracks".
    const end = afterEmphasis(readable, index + segment.length);
    if (end < readable.length && (endsWithinWord(readable, end) || endsInAbbreviation(readable, end)))
      continue;
    const sentence = trimmed(prose, start, end);
    if (sentence.start < sentence.end) sentences.push(sentence);
    start = end;
  }
  return sentences;
}

/** As `sub.*.example.com` would be ended by the segmenter. Where no spaces are written, other signs end a sentence. */
function endsWithinWord(text: string, end: number): boolean {
  return /[.!?]/.test(text[end - 1] as string) && /\S/.test(text[end] as string);
}

/** A text that is no Markdown, cut where its sentences begin. Joined, the pieces are the text. */
export function cutAtSentences(text: string): string[] {
  const starts = sentencesIn(text).map(({ start }) => start);
  return [0, ...starts.slice(1)].map((start, index) => text.slice(start, starts[index + 1]));
}

/**
 * The beginning of a text, at most `max` characters, that ends with a sentence or a line; where not even one fits, with
 * a word.
 */
export function cutAtSentence(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = sentencesIn(text).findLast((sentence) => sentence.end <= max)?.end;
  if (end !== undefined) return text.slice(0, end);
  const cut = cutText(text, max);
  return /^(.*\S)\s/su.exec(cut)?.[1] ?? cut;
}

function afterEmphasis(text: string, end: number): number {
  CLOSES_EMPHASIS.lastIndex = end;
  return end + (CLOSES_EMPHASIS.exec(text)?.[0].length ?? 0);
}

/** A text with as many characters, in which code holds no end of a sentence but may begin one. No code crosses lines. */
function withoutCode(prose: string): string {
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

function trimmed(text: string, from: number, to: number): Range {
  let start = from;
  let end = to;
  while (start < end && /\s/.test(text.charAt(start))) start += 1;
  while (end > start && /\s/.test(text.charAt(end - 1))) end -= 1;
  return { start, end };
}
