import * as z from 'zod';
import { locationSchema } from './location.ts';

/** From 0 (unrelated) to 1 (the same). */
export const scoreSchema = z.number().min(0).max(1);
/** How finely scores are shown, to models and to people. */
export const SCORE_DECIMALS = 3;

/** Words that are there: more than blanks. */
export const spokenText = z.string().regex(/\S/, 'it is blank');

/** What a browser can open: a whole URL, or one that is relative to what was ingested. */
export const addressSchema = spokenText.refine(isAddress, { error: 'it is not a URL' });

export function isAddress(text: string): boolean {
  return URL.canParse(text, 'https://relative.invalid/') && !/[\x00-\x1f]/.test(text);
}

export const retrievedChunkSchema = z.object({
  chunkId: z.string().min(1),
  text: spokenText,
  score: scoreSchema,
  /** Its place among what came back, from 1. */
  rank: z.int().min(1),
  /** What is cited: the address of a page, or the place of a file below what was ingested (see `place.ts`). */
  url: addressSchema,
  /** Where this machine keeps the file, to open it; no model is told. */
  uri: z.string().optional(),
  title: z.string(),
  /** Its position in the document, from 0. */
  chunkIndex: z.int().min(0),
  module: z.string().nullable(),
  chapter: z.string().nullable(),
  /** The headings above it, outermost first. */
  headings: z.array(z.string()),
  /** Where it stands in its document, if the format tells; collections made before that was kept have none. */
  location: locationSchema.optional(),
  tokenCount: z.int().min(1),
  contentHash: z.string().min(1),
});
export type RetrievedChunk = z.infer<typeof retrievedChunkSchema>;

/** A similarity as a score: rounding of vectors may have left it a hair outside of 0..1. */
export function toScore(similarity: number): number {
  return Number.isNaN(similarity) ? 0 : Math.min(1, Math.max(0, similarity));
}
