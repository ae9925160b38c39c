import { createHash } from 'node:crypto';
import { chunkId } from '../domain/document.ts';
import { lines } from '../domain/location.ts';
import { ATTACHED_URL } from '../domain/prompts.ts';
import { createRetrievalContext, type RetrievalContext } from '../domain/retrieval-context.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import { indexTerms, queryTerms } from '../text/terms.ts';

/** What a person gives along with a question is read as any document is: its words are never instructions. */
const TITLE = 'Standard input';
const PIECE_CHARACTERS = 1200;
/** Of the room for passages; the rest is for documents. */
const SHARE = 0.5;

/** The passages of a search with those of the text in front of them, which nobody had to look for. */
export function withAttached(
  context: RetrievalContext,
  text: string,
  question: string,
  passageTokens: number,
): RetrievalContext {
  const pieces = piecesOf(text);
  const chosen = fitting(pieces, question, passageTokens * SHARE);
  const notes =
    chosen.length === pieces.length
      ? context.notes
      : [
          ...context.notes,
          `Of what was given along, ${chosen.length} of ${pieces.length} parts fit into the window of the model: those nearest to the question, and the end.`,
        ];
  return createRetrievalContext({
    ...context,
    chunks: [...chosen, ...context.chunks],
    totalFound: context.totalFound + chosen.length,
    notes,
  });
}

/** Whole lines, as many as make a passage. */
function piecesOf(text: string): Omit<RetrievedChunk, 'rank'>[] {
  const version = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const pieces: Omit<RetrievedChunk, 'rank'>[] = [];
  let held: string[] = [];
  let first = 1;
  const close = (next: number) => {
    const piece = held.join('\n').trimEnd();
    if (piece.trim() !== '') {
      pieces.push({
        // Of this very text: another one that is given along later is another source.
        chunkId: chunkId(`${ATTACHED_URL}:${version}`, pieces.length),
        text: piece,
        // The person says that it matters.
        score: 1,
        url: ATTACHED_URL,
        title: TITLE,
        chunkIndex: pieces.length,
        module: null,
        chapter: null,
        headings: [],
        location: lines(first, Math.max(first, next - 1)),
        tokenCount: Math.max(1, estimateTokens(piece)),
        contentHash: createHash('sha256').update(piece).digest('hex'),
      });
    }
    held = [];
    first = next;
  };
  const all = text.replace(/\n$/, '').split('\n');
  all.forEach((line, index) => {
    // A line that never ends is cut, so that it cannot push out everything else.
    for (let at = 0; at === 0 || at < line.length; at += PIECE_CHARACTERS) {
      const part = line.slice(at, at + PIECE_CHARACTERS);
      const length = held.reduce((sum, each) => sum + each.length + 1, 0);
      if (held.length > 0 && length + part.length > PIECE_CHARACTERS) close(index + 1);
      held.push(part);
    }
  });
  close(all.length + 1);
  return pieces;
}

/** All of them if there is room; else those with most words of the question, the later ones first, and the last in any case. */
function fitting(
  pieces: readonly Omit<RetrievedChunk, 'rank'>[],
  question: string,
  room: number,
): Omit<RetrievedChunk, 'rank'>[] {
  const wanted = new Set(queryTerms(question));
  const worth = ({ text, chunkIndex }: { text: string; chunkIndex: number }) =>
    chunkIndex === pieces.length - 1
      ? Number.POSITIVE_INFINITY
      : new Set(indexTerms(text).filter((term) => wanted.has(term))).size;
  let left = room;
  const chosen = new Set<string>();
  const ranked = pieces
    .map((piece) => ({ piece, worth: worth(piece) }))
    .sort((a, b) => b.worth - a.worth || b.piece.chunkIndex - a.piece.chunkIndex);
  for (const { piece } of ranked) {
    if (piece.tokenCount > left && chosen.size > 0) continue;
    left -= piece.tokenCount;
    chosen.add(piece.chunkId);
  }
  return pieces.filter(({ chunkId: id }) => chosen.has(id));
}
