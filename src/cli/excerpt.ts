import { oneLine } from '../domain/visible-text.ts';
import { indexTerms, queryTerms } from '../lexical/terms.ts';

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The part of a text that speaks most of the query, on one line of about `max` characters, starting at a sentence. */
export function excerptOf(text: string, query: string, max: number): string {
  const wanted = new Set(queryTerms(query));
  const sentences = Array.from(sentenceSegmenter.segment(text), ({ segment }) => segment);
  const worth = sentences.map(
    (sentence) => new Set(indexTerms(sentence).filter((term) => wanted.has(term))).size,
  );
  let best = 0;
  let bestWorth = -1;
  for (let start = 0; start < sentences.length; start += 1) {
    const sum = worthFrom(start);
    if (sum > bestWorth) {
      best = start;
      bestWorth = sum;
    }
  }
  return oneLine(`${best > 0 ? '… ' : ''}${sentences.slice(best).join('')}`, max);

  /** What would be seen of the query if the excerpt started here. */
  function worthFrom(start: number): number {
    let sum = 0;
    let length = 0;
    for (let i = start; i < sentences.length && length < max; i += 1) {
      sum += worth[i] ?? 0;
      length += sentences[i]?.length ?? 0;
    }
    return sum;
  }
}
