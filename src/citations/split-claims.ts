import { replaceRanges, type TextRange } from '../text/markdown-blocks.ts';
import { splitSentences } from '../text/split-sentences.ts';
import type { CitationMarker } from './find-markers.ts';

export interface AnswerClaim extends TextRange {
  /** The sentence without its markers. */
  text: string;
  refs: string[];
}

/**
 * The sentences of an answer, each with the refs of the markers in it or directly after it. Code is none. Headings,
 * questions and lines that introduce a list are claims only if they cite something. Markers must be in order.
 */
export function splitClaims(answer: string, markers: readonly CitationMarker[]): AnswerClaim[] {
  const blank = ({ start, end }: TextRange) => ({ start, end, text: ' '.repeat(end - start) });
  const masked = replaceRanges(answer, markers.map(blank));
  const sentences = splitSentences(masked)
    .map((sentence) => ({ ...sentence, text: normalizeSpaces(masked.slice(sentence.start, sentence.end)) }))
    // "Source: [1]" belongs to the sentence above it.
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text) && !/^\W*sources?\W*$/i.test(text))
    .map((sentence) => ({ ...sentence, refs: new Set<string>() }));
  const isSameLine = (from: number, to: number) => !masked.slice(from, to).includes('\n');
  let current = 0;
  for (const { start, end, names } of markers) {
    while ((sentences[current]?.start ?? end) < end) current += 1;
    const before = sentences[current - 1];
    const next = sentences[current];
    // A marker at the start of a line belongs to the sentence after it, any other to the sentence before it.
    const opensLine = before === undefined || (before.end <= start && !isSameLine(before.end, start));
    const owner = next !== undefined && opensLine && isSameLine(end, next.start) ? next : (before ?? next);
    for (const name of names) owner?.refs.add(name);
  }
  return sentences.flatMap(({ start, end, heading, text, refs }) =>
    refs.size === 0 && (heading || /[:?]["'”’)*_]*$/.test(text))
      ? []
      : [{ start, end, text, refs: [...refs] }],
  );
}

function normalizeSpaces(text: string): string {
  return (
    text
      .replace(/\s+/g, ' ')
      .replace(/\[([^[\]]{0,300})\]\(\S{0,2000}\)/g, '$1')
      // Left over from a marker, unlike `main()`.
      .replace(/ ?\( \)/g, '')
      .replace(/ (?=[.,;:!?](?:\s|$))/g, '')
      .trim()
  );
}
