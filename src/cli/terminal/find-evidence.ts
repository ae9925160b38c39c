import type { Citation } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { AppError } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';

/** What a mark of an answer points at. */
export interface Evidence {
  citation: Citation;
  /** Null if the passage is not kept with any of the turns. */
  chunk: RetrievedChunk | null;
  /** The turn whose answer has the mark. */
  turn: ConversationTurn;
}

/** The source of a mark in the newest answer that has it. Throws `invalid_input` with the marks that there are. */
export function findEvidence(turns: readonly ConversationTurn[], given: string): Evidence {
  const wanted = given.replace(/^\[|\]$/g, '').trim();
  for (const turn of turns.toReversed()) {
    const citation = turn.response.citations.find(
      ({ marker, chunkId }) => marker === wanted && chunkId !== null,
    );
    if (citation === undefined) continue;
    const chunk = turns
      .flatMap(({ retrievals }) => retrievals.flatMap(({ chunks }) => chunks))
      .findLast(({ chunkId }) => chunkId === citation.chunkId);
    return { citation, chunk: chunk ?? null, turn };
  }
  const marks = [...new Set(turns.flatMap(({ response }) => response.citations.map(({ marker }) => marker)))];
  throw new AppError('invalid_input', `No answer cites [${oneLine(wanted, 20)}].`, {
    hint:
      marks.length === 0 ? 'There is nothing that is cited yet.' : `There is ${inOrder(marks).join(', ')}.`,
  });
}

function inOrder(marks: readonly string[]): string[] {
  const { compare } = new Intl.Collator('en', { numeric: true });
  return marks.toSorted(compare).map((mark) => `[${oneLine(mark, 20)}]`);
}
