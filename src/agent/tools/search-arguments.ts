import * as z from 'zod';

export const MAX_TOOL_TOP_K = 20;

/** What the model may ask of the search. Models leave out or null what they do not need. */
export const searchArgumentsSchema = z.object({
  query: z.string().trim().min(1).max(1000).describe('What to look for, as a question or key words.'),
  top_k: z.int().min(1).max(MAX_TOOL_TOP_K).nullish().describe(`How many passages, 1 to ${MAX_TOOL_TOP_K}.`),
  module: z.string().trim().min(1).nullish().describe('Only documents of this module.'),
});
export type SearchArguments = z.infer<typeof searchArgumentsSchema>;

/** The same as a strict JSON schema: every field required, null where it is not needed. */
export const searchArgumentsJsonSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', description: searchArgumentsSchema.shape.query.description },
    top_k: { type: ['integer', 'null'], description: searchArgumentsSchema.shape.top_k.description },
    module: { type: ['string', 'null'], description: searchArgumentsSchema.shape.module.description },
  },
  required: ['query', 'top_k', 'module'],
  additionalProperties: false,
} as const;
