import * as z from 'zod';
import { verdictSchema } from './citation.ts';

/** A range of characters; `end` is exclusive. */
const rangeSchema = z.object({ start: z.int().min(0), end: z.int().min(0) });

export const sentenceVerdictSchema = verdictSchema.exclude(['unknown_source']);
export type SentenceVerdict = z.infer<typeof sentenceVerdictSchema>;

/** Why a sentence is flagged: something in it that its sources do not have, or nothing that they do. */
export const flagReasonSchema = z.object({
  kind: z.enum(['number', 'code', 'quote', 'name', 'negation', 'dissimilar', 'not_entailed']),
  /** For people. */
  text: z.string().min(1),
});
export type FlagReason = z.infer<typeof flagReasonSchema>;

/** A range of a chunk's text. */
const sentenceEvidenceSchema = rangeSchema.extend({ chunkId: z.string().min(1), text: z.string() });
export type SentenceEvidence = z.infer<typeof sentenceEvidenceSchema>;

/** A sentence of an answer, and whether its cited passages support it. The range is of the answer. */
export const checkedSentenceSchema = rangeSchema.extend({
  /** Without its markers. */
  text: z.string(),
  refs: z.array(z.string()),
  /** Null when it cites nothing. */
  verdict: sentenceVerdictSchema.nullable(),
  /** Why it is `unsupported`; else null, and null in records of earlier versions. */
  reason: flagReasonSchema.nullable().default(null),
  /** The part of a cited passage that matches it best. */
  evidence: sentenceEvidenceSchema.nullable(),
});
export type CheckedSentence = z.infer<typeof checkedSentenceSchema>;

/** How citations are checked: by words and word vectors, by the model, by a local cross-encoder, or not at all. */
export const CHECKERS = ['words', 'model', 'onnx', 'off'] as const;
export const checkedBySchema = z.enum(CHECKERS);
export type CheckedBy = z.infer<typeof checkedBySchema>;
