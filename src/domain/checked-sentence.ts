import * as z from 'zod';
import { verdictSchema } from './citation.ts';

/** A range of characters; `end` is exclusive. */
const rangeSchema = z.object({ start: z.int().min(0), end: z.int().min(0) });

export const sentenceVerdictSchema = verdictSchema.exclude(['unknown_source']);
export type SentenceVerdict = z.infer<typeof sentenceVerdictSchema>;

/** A sentence of an answer, and whether its cited passages support it. The range is of the answer. */
export const checkedSentenceSchema = rangeSchema.extend({
  /** Without its markers. */
  text: z.string(),
  refs: z.array(z.string()),
  /** Null when it cites nothing. */
  verdict: sentenceVerdictSchema.nullable(),
  /** The calibrated probability that people would call it supported; null if checked by words only. */
  probability: z.number().min(0).max(1).nullable(),
  /** The sentence of a passage that supports it best; the range is of the passage's text. */
  evidence: rangeSchema.extend({ chunkId: z.string().min(1), text: z.string() }).nullable(),
  /** Ranges of the answer that no cited passage supports. */
  unsupportedSpans: z.array(rangeSchema),
});
export type CheckedSentence = z.infer<typeof checkedSentenceSchema>;

/** Whether sentences were checked with the encoder, or by their words only. */
export const checkedBySchema = z.enum(['judge', 'words']);
export type CheckedBy = z.infer<typeof checkedBySchema>;
