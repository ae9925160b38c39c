import { cutText } from '../../domain/cut-text.ts';
import { indexTerms, queryTerms } from '../../lexical/terms.ts';

/** Where a reader may begin: after a sentence, or at a line of a list, a table or code. */
const BOUNDARY = /(?<=[.!?。！？]["”')\]]?)\s+(?=\S)|\n+(?=\S)/g;
const CODE = /```[\s\S]*?(?:```|$)/g;

/**
 * The part of a passage, at most `max` characters in one piece, that has most of the query's terms. It begins
 * where a sentence or a line begins; of parts that are equally good it is the first one.
 */
export function passageWindow(text: string, query: string, max: number): string {
  if (text.length <= max) return text;
  const wanted = new Set(queryTerms(query));
  const starts = startsIn(text);
  const pieces = starts.map((start, index) => {
    const end = starts[index + 1] ?? text.length;
    return { start, end, terms: indexTerms(text.slice(start, end)).filter((term) => wanted.has(term)) };
  });
  const weights = weightsOf(pieces.map(({ terms }) => terms));
  let best = { start: 0, score: -1 };
  for (const [first, { start }] of pieces.entries()) {
    const found = new Set<string>();
    for (let last = first; last < pieces.length; last += 1) {
      const piece = pieces[last];
      if (piece === undefined || (last > first && piece.end - start > max)) break;
      for (const term of piece.terms) found.add(term);
    }
    const score = [...found].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0);
    if (score > best.score) best = { start, score };
    // From here on a part is shorter than it may be, and has nothing that this one has not.
    if (text.length - start <= max) break;
  }
  return cutText(text.slice(best.start), max).trimEnd();
}

/** Code is never entered in the middle: what follows could not be told from prose. */
function startsIn(text: string): number[] {
  const blocks = Array.from(text.matchAll(CODE), (match) => [match.index, match.index + match[0].length]);
  const starts = Array.from(text.matchAll(BOUNDARY), (match) => match.index + match[0].length);
  return [0, ...starts.filter((at) => !blocks.some(([from = 0, to = 0]) => at > from && at < to))];
}

/** A term that few pieces have tells more about where the answer is. */
function weightsOf(pieces: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const terms of pieces)
    for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return new Map(Array.from(counts, ([term, count]) => [term, 1 + 1 / count]));
}
