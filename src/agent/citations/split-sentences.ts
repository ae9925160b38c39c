import { findBlocks, findCodeSpans, type Range } from './markdown-blocks.ts';

export interface Sentence extends Range {
  /** The number of the paragraph, list item or heading that it stands in. */
  block: number;
  heading: boolean;
}

/** After these a full stop ends no sentence, although the segmenter sees a capital follow. */
const ABBREVIATION =
  /(?:^|[\s("'“‘[])(?:e\.g|i\.e|cf|vs|viz|approx|resp|incl|fig|figs|eq|eqs|sec|ch|no|nos|vol|pp?|al|dr|mr|mrs|ms|prof|st|inc|ltd|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|u\.s|[A-Z])\.["'”’)\]]*\s*$/i;
const LONGEST_ABBREVIATION = 24;

let segmenter: Intl.Segmenter | undefined;

/**
 * The sentences of a Markdown text, without those of fenced code. A sentence never crosses a block; its range
 * leaves out the white space and the bullet around it.
 */
export function splitSentences(text: string): Sentence[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' });
  const sentences: Sentence[] = [];
  findBlocks(text).forEach((block, number) => {
    if (block.kind === 'code') return;
    const place = { block: number, heading: block.kind === 'heading' };
    const readable = forSegmenter(text, { start: block.content, end: block.end });
    let start = 0;
    for (const { index, segment } of segmenter?.segment(readable) ?? []) {
      const end = index + segment.length;
      if (end < readable.length && endsInAbbreviation(readable, end)) continue;
      const range = trimmed(text, block.content + start, block.content + end);
      if (range.start < range.end) sentences.push({ ...range, ...place });
      start = end;
    }
    const rest = trimmed(text, block.content + start, block.end);
    if (rest.start < rest.end) sentences.push({ ...rest, ...place });
  });
  return sentences;
}

/** The text of a block, with as many characters: line feeds end no sentence, and code holds no end of one but may begin one. */
function forSegmenter(text: string, block: Range): string {
  let readable = '';
  let at = block.start;
  for (const span of findCodeSpans(text, block)) {
    readable += `${text.slice(at, span.start)}${'X'.repeat(span.end - span.start)}`;
    at = span.end;
  }
  return (readable + text.slice(at, block.end)).replace(/[\n\r\u2028\u2029\u0085]/g, ' ');
}

function endsInAbbreviation(text: string, end: number): boolean {
  let last = end;
  while (last > 0 && /\s/.test(text.charAt(last - 1)) && end - last < LONGEST_ABBREVIATION) last -= 1;
  return ABBREVIATION.test(text.slice(Math.max(0, last - LONGEST_ABBREVIATION), last));
}

function trimmed(text: string, from: number, to: number): Range {
  let start = from;
  let end = to;
  while (start < end && /\s/.test(text.charAt(start))) start += 1;
  while (end > start && /\s/.test(text.charAt(end - 1))) end -= 1;
  return { start, end };
}
