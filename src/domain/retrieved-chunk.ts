import * as z from 'zod';
import { locationSchema } from './location.ts';

/** From 0 (unrelated) to 1 (identical). */
export const scoreSchema = z.number().min(0).max(1);
/** Decimals of scores in tool responses and output. */
export const SCORE_DECIMALS = 3;

/** A text that is not blank. */
export const nonBlankTextSchema = z.string().regex(/\S/, 'blank');

/** A URL, absolute or relative to the ingested root. */
export const sourceUrlSchema = nonBlankTextSchema.refine(isSourceUrl, { error: 'not a URL' });

export function isSourceUrl(text: string): boolean {
  return URL.canParse(text, 'https://relative.invalid/') && !/[\x00-\x1f]/.test(text);
}

export const retrievedChunkSchema = z.object({
  chunkId: z.string().min(1),
  text: nonBlankTextSchema,
  score: scoreSchema,
  /** From 1. */
  rank: z.int().min(1),
  /** The public address: a web URL, or a path relative to the ingested root (see `place.ts`). */
  url: sourceUrlSchema,
  /** The local file, to open it; never sent to a model. */
  uri: z.string().optional(),
  title: z.string(),
  /** From 0. */
  chunkIndex: z.int().min(0),
  module: z.string().nullable(),
  chapter: z.string().nullable(),
  /** Outermost first. */
  headings: z.array(z.string()),
  /** The position in the document, if the format has one and the collection stores it. */
  location: locationSchema.optional(),
  tokenCount: z.int().min(1),
  contentHash: z.string().min(1),
});
export type RetrievedChunk = z.infer<typeof retrievedChunkSchema>;

/** Clamps a similarity to 0..1, because rounding may leave it slightly outside. */
export function toScore(similarity: number): number {
  return Number.isNaN(similarity) ? 0 : Math.min(1, Math.max(0, similarity));
}
