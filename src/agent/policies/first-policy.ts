import type { RetrievalPolicy } from './retrieval-policy.ts';

/** The first step has to be a search; after it the model is free. */
export const firstPolicy: RetrievalPolicy = {
  name: 'first',
  tool: 'forced',
  prompt: async (question) => question,
};
