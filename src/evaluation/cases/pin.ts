import * as z from 'zod';

/** What a case expects, as it stood in the collection: a document by the hash of its bytes, a chunk by that of its text. */
export const pinSchema = z.strictObject({
  /** As the case names it. */
  expected: z.string(),
  url: z.string(),
  contentHash: z.string(),
});
export type Pin = z.infer<typeof pinSchema>;
