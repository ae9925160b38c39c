import type { RetrievalPolicy } from './retrieval-policy.ts';

/** The model decides whether and what to search. */
export const toolPolicy: RetrievalPolicy = {
  name: 'tool',
  tool: 'offered',
  prompt: async (question) => question,
};
