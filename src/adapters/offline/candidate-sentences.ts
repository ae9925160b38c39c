import type { Passage } from './read-request.ts';

/** A sentence that an answer could quote. */
export interface Candidate {
  text: string;
  ref: string;
  /** The place of its passage among the results, from 0, and its own place in the passage. */
  passage: number;
  position: number;
}

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const LIST_MARKER = /^(?:[-*+•]|\d+[.)])\s+/;
const MIN_WORDS = 4;
const MAX_WORDS = 60;

/** The sentences of passages that read well on their own: no code, no table rows, no headings, no fragments. */
export function candidateSentences(passages: readonly Passage[]): Candidate[] {
  return passages.flatMap((passage, index) =>
    sentencesOf(passage.text).map((text, position) => ({ text, ref: passage.ref, passage: index, position })),
  );
}

function sentencesOf(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?(?:```|$)/g, '\n\n');
  return prose
    .split(/\n{2,}|\n(?=\s*(?:[-*+•]|\d+[.)])\s)/)
    .map((block) => block.trim().replace(LIST_MARKER, ''))
    .filter((block) => !block.startsWith('|'))
    .flatMap((block) =>
      Array.from(sentenceSegmenter.segment(block.replace(/\s+/g, ' ')), ({ segment }) => segment.trim()),
    )
    .filter(readsWell);
}

/** Scripts that are written without spaces have about two characters a word. */
function wordCount(sentence: string): number {
  const unspaced = sentence.match(/[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}]/gu)?.length ?? 0;
  return sentence.split(' ').length + unspaced / 2;
}

function readsWell(sentence: string): boolean {
  const words = wordCount(sentence);
  return (
    words >= MIN_WORDS &&
    words <= MAX_WORDS &&
    /^["“'(「]?[\p{L}\p{N}_]/u.test(sentence) &&
    /[.!。！]["”')」]?$/.test(sentence)
  );
}
