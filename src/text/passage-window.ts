import type { TextRange } from './markdown-blocks.ts';
import { splitPassageParts } from './passage-parts.ts';
import { indexTerms, queryTerms } from './terms.ts';
import { cutText } from './visible-text.ts';

/**
 * The first part of a passage, at most `max` characters, that has most of the query's terms. It consists of whole
 * sentences, rows (with their table header) and code blocks, unless a single one is longer than `max`.
 */
export function selectPassageWindow(text: string, query: string, max: number): string {
  if (text.length <= max) return text;
  const wanted = new Set(queryTerms(query));
  const pieces = piecesOf(text).map((piece) => ({
    ...piece,
    terms: [piece, ...(piece.head === null ? [] : [piece.head])].flatMap(({ start, end }) =>
      indexTerms(text.slice(start, end)).filter((term) => wanted.has(term)),
    ),
  }));
  const weights = weightTerms(pieces.map(({ terms }) => terms));
  let best = { first: 0, last: 0, score: -1 };
  for (const [first, { start, head }] of pieces.entries()) {
    const found = new Set<string>();
    const available = max - (head === null ? 0 : head.end - head.start + 1);
    let last = first;
    for (let at = first; at < pieces.length; at += 1) {
      const piece = pieces[at];
      if (piece === undefined || (at > first && piece.end - start > available)) break;
      for (const term of piece.terms) found.add(term);
      last = at;
    }
    const score = [...found].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0);
    if (score > best.score) best = { first, last, score };
    // Windows that start later contain no more terms.
    if (last === pieces.length - 1) break;
  }
  const { start = 0, head = null } = pieces[best.first] ?? {};
  const part = text.slice(start, pieces[best.last]?.end);
  const whole = head === null ? part : `${text.slice(head.start, head.end)}\n${part}`;
  return cutText(whole, max).trimEnd();
}

/** Sentences, rows with the header of their table, and code blocks, which are not cut. */
function piecesOf(text: string): (TextRange & { head: TextRange | null })[] {
  const parts = splitPassageParts(text);
  const pieces = parts.flatMap(({ start, end, sentences, head }, index) => {
    const opensTable = head !== null && parts[index - 1]?.head !== head;
    const whole = opensTable ? { start: head.start, end, head: null } : { start, end, head };
    const [, ...others] = sentences;
    if (others.length === 0) return [whole];
    const starts = [start, ...others.map((sentence) => sentence.start)];
    return starts.map((from, at) => ({ start: from, end: starts[at + 1] ?? end, head: null }));
  });
  return pieces.length > 0 ? pieces : [{ start: 0, end: text.length, head: null }];
}

/** Terms in fewer pieces weigh more. */
function weightTerms(pieces: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const terms of pieces)
    for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return new Map(Array.from(counts, ([term, count]) => [term, 1 + 1 / count]));
}
