import type { TextRange } from './markdown-blocks.ts';
import { type PassagePart, splitPassageParts } from './passage-parts.ts';
import { cutAtSentence } from './split-sentences.ts';
import { indexTerms, queryTerms } from './terms.ts';

/** A piece that is longer than the limit by no more than this factor is shown whole. */
const PIECE_TOLERANCE = 1.5;

/**
 * The first part of a passage, about `max` characters, that has most of the query's terms. It consists of whole sentences,
 * rows (with their table header) and code blocks, each with the lead-in before it; a longer one is cut after a line.
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
  return (whole.length <= PIECE_TOLERANCE * max ? whole : cutPiece(whole, max)).trimEnd();
}

type PassagePiece = TextRange & { head: TextRange | null };

/** Sentences, rows with the header of their table, and code blocks. What introduces the next piece is one with it. */
function piecesOf(text: string): PassagePiece[] {
  const pieces: PassagePiece[] = [];
  let leadIn: number | null = null;
  const parts = splitPassageParts(text);
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    for (const piece of piecesOfPart(part, parts[index - 1])) {
      const start: number = leadIn ?? piece.start;
      const isLast = piece.end === part.end;
      const isLeadIn =
        isLast && next !== undefined && introducesNext(text.slice(start, piece.end), part, next);
      if (isLeadIn) leadIn = start;
      else {
        pieces.push({ ...piece, start, head: leadIn === null ? piece.head : null });
        leadIn = null;
      }
    }
  }
  return pieces.length > 0 ? pieces : [{ start: 0, end: text.length, head: null }];
}

function piecesOfPart({ start, end, sentences, head }: PassagePart, before: PassagePart | undefined) {
  const opensTable = head !== null && before?.head !== head;
  const [, ...others] = sentences;
  if (others.length === 0)
    return [opensTable ? { start: head.start, end, head: null } : { start, end, head }];
  const starts = [start, ...others.map((sentence) => sentence.start)];
  return starts.map((from, at) => ({ start: from, end: starts[at + 1] ?? end, head: null }));
}

/** Whether a text ends with a lead-in, such as "Run this command:". */
export function endsWithLeadIn(text: string): boolean {
  return ENDS_WITH_COLON.test(text);
}

const ENDS_WITH_COLON = /[:：]["'”’)\]*_]*\s*$/;

function introducesNext(text: string, { kind }: PassagePart, next: PassagePart): boolean {
  return (
    kind === 'label' || endsWithLeadIn(text) || (kind !== 'code' && kind !== 'row' && next.kind === 'code')
  );
}

/** Cuts after a line below the lead-in, or after a sentence if there is only one line. */
function cutPiece(text: string, max: number): string {
  const lines = text.slice(0, max).split('\n').slice(0, -1);
  const cut = lines.join('\n').trimEnd();
  return lines.filter((line) => line.trim() !== '').length > 2 ? cut : cutAtSentence(text, max);
}

/** Terms in fewer pieces weigh more. */
function weightTerms(pieces: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const terms of pieces)
    for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return new Map(Array.from(counts, ([term, count]) => [term, 1 + 1 / count]));
}
