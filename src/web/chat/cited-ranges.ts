import type { TextRange } from '../../text/markdown-blocks.ts';
import { cutAtSentences } from '../../text/split-sentences.ts';

/** The share of its words that a sentence of the passage must have in common with the answer. */
const MIN_OVERLAP = 0.6;

/**
 * Finds the sentences of a passage that share the most words with the answer's sentences before a marker: all above
 * `MIN_OVERLAP`, otherwise the closest one.
 */
export function findCitedRanges(passage: string, answer: string, marker: string): TextRange[] {
  const answerWords = uniqueWords(sentencesBeforeMarker(answer, marker).join(' ') || answer);
  const sentences = cutAtSentences(passage).map((text) => ({
    text,
    overlap: wordOverlap(text, answerWords),
  }));
  const best = Math.max(...sentences.map(({ overlap }) => overlap));
  let end = 0;
  return sentences.flatMap(({ text, overlap }) => {
    const start = end;
    end += text.length;
    return best > 0 && overlap >= Math.min(best, MIN_OVERLAP) ? [{ start, end }] : [];
  });
}

function sentencesBeforeMarker(answer: string, marker: string): string[] {
  const pieces = answer.split(`[${marker}]`).slice(0, -1);
  return pieces.map((before) => {
    const text = before.replace(/(?:\s*\[[^\]]+\])+\s*$/, '').trimEnd();
    const last = cutAtSentences(text).at(-1) ?? '';
    // Text up to an earlier marker belongs to that marker.
    return last.split(/\]\s+/).at(-1) ?? '';
  });
}

function uniqueWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []);
}

/** The share of the words of a text that are among the given words. */
function wordOverlap(text: string, words: ReadonlySet<string>): number {
  const own = uniqueWords(text);
  return own.size === 0 ? 0 : own.intersection(words).size / own.size;
}
