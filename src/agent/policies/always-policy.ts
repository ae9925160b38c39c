import type { RetrievalPolicy } from './retrieval-policy.ts';

/** Retrieve first, then ask with the passages in the prompt; the model has no say in it. */
export const alwaysPolicy: RetrievalPolicy = {
  name: 'always',
  tool: 'withheld',
  async prompt(question, { standalone, search, withContext }) {
    return withContext(await search(await standalone(question)), question);
  },
};
