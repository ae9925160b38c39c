import * as z from 'zod';
import { filterSchema } from './filter.ts';
import { validated } from './validated.ts';

export const MAX_QUERY_TOP_K = 100;

/** What is looked up: a text and how many chunks at most, from the documents that the filter lets through. */
export const querySchema = z.object({
  text: z.string().trim().min(1, 'the text is blank'),
  topK: z.int().min(1).max(MAX_QUERY_TOP_K).default(5),
  filter: filterSchema.default({}),
});
export type Query = z.infer<typeof querySchema>;

/** Throws `invalid_input`. */
export function createQuery(input: z.input<typeof querySchema>): Query {
  return validated(querySchema, input, 'The query');
}
