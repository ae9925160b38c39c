import * as z from 'zod';

/** From 0 (unrelated) to 1 (the same). */
export const scoreSchema = z.number().min(0).max(1);

export const retrievedChunkSchema = z.object({
  chunkId: z.string().min(1),
  text: z.string(),
  score: scoreSchema,
  url: z.string().min(1),
  title: z.string(),
  /** Its position in the document, from 0. */
  chunkIndex: z.int().min(0),
  module: z.string().nullable(),
  chapter: z.string().nullable(),
  /** The headings above it, outermost first. */
  headings: z.array(z.string()),
  tokenCount: z.int().min(0),
  contentHash: z.string().min(1),
});
export type RetrievedChunk = z.infer<typeof retrievedChunkSchema>;

/** A similarity as a score: rounding of vectors may have left it a hair outside of 0..1. */
export function toScore(similarity: number): number {
  return Number.isNaN(similarity) ? 0 : Math.min(1, Math.max(0, similarity));
}
