import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { Range } from '../text/markdown-blocks.ts';
import type { UnitKind } from '../text/passage-units.ts';

/** What is read to judge by: the text of a chunk, and where it stands. The same object is read once. */
export type JudgedPassage = Pick<RetrievedChunk, 'text' | 'title' | 'headings'>;

/** A part of a passage that can stand as an answer: the range is of its own characters in the passage's text. */
export interface Unit extends Range {
  kind: UnitKind;
  passage: JudgedPassage;
  /** What introduces it: the sentence before code or a list, the header of a row. */
  leadIn: Range | null;
}
