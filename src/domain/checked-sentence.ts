import * as z from 'zod';
import { foundBySchema, verdictSchema } from './citation.ts';

/** Characters of a text from `start` up to `end`. */
const rangeSchema = z.object({ start: z.int().min(0), end: z.int().min(0) });

/** What is said of a sentence whose sources are known. */
export const sentenceVerdictSchema = verdictSchema.exclude(['unknown_source']);
export type SentenceVerdict = z.infer<typeof sentenceVerdictSchema>;

/** A sentence of an answer, and whether what it cites bears it out. The range is of the answer. */
export const checkedSentenceSchema = rangeSchema.extend({
  /** Without its markers. */
  text: z.string(),
  refs: z.array(z.string()),
  /** Null when it cites nothing. */
  verdict: sentenceVerdictSchema.nullable(),
  /** The calibrated chance that people would call it supported; null where words alone were looked at. */
  probability: z.number().min(0).max(1).nullable(),
  /** The sentence of a passage that bears it out most; the range is of the passage's text. */
  borneOutBy: rangeSchema.extend({ chunkId: z.string().min(1), text: z.string() }).nullable(),
  /** The words of the answer that nothing bears out. */
  unborne: z.array(rangeSchema),
  foundBy: foundBySchema,
});
export type CheckedSentence = z.infer<typeof checkedSentenceSchema>;

/** Whether sentences were held against their sources by the judge, which reads, or by words alone. */
export const checkedBySchema = z.enum(['judge', 'words']);
export type CheckedBy = z.infer<typeof checkedBySchema>;
