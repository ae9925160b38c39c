import type { RetrievalPolicy } from './retrieval-policy.ts';

/** No retrieval at all: the baseline. */
export const neverPolicy: RetrievalPolicy = {
  name: 'never',
  tool: 'withheld',
  prompt: async (question) => question,
};
