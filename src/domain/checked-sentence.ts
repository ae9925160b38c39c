import * as z from 'zod';
import { verdictSchema } from './citation.ts';

/** Characters of a text from `start` up to `end`. */
const rangeSchema = z.object({ start: z.int().min(0), end: z.int().min(0) });

/** What is said of a sentence whose sources are known. */
export const sentenceVerdictSchema = verdictSchema.exclude(['unknown_source']);
export type SentenceVerdict = z.infer<typeof sentenceVerdictSchema>;

/** A sentence of an answer, and whether its cited passages support it. The range is of the answer. */
export const checkedSentenceSchema = rangeSchema.extend({
  /** Without its markers. */
  text: z.string(),
  refs: z.array(z.string()),
  /** Null when it cites nothing. */
  verdict: sentenceVerdictSchema.nullable(),
  /** The calibrated chance that people would call it supported; null where words alone were looked at. */
  probability: z.number().min(0).max(1).nullable(),
  /** The sentence of a passage that supports it best; the range is of the passage's text. */
  evidence: rangeSchema.extend({ chunkId: z.string().min(1), text: z.string() }).nullable(),
  /** Ranges of the answer that no cited passage supports. */
  unsupportedSpans: z.array(rangeSchema),
});
export type CheckedSentence = z.infer<typeof checkedSentenceSchema>;

/** Whether sentences were held against their sources by the judge, which reads, or by words alone. */
export const checkedBySchema = z.enum(['judge', 'words']);
export type CheckedBy = z.infer<typeof checkedBySchema>;
