import type { Policy } from '../domain/agent-config.ts';

/** Who decides to retrieve. All policies share retriever, citations and record, so that they compare. */
interface RetrievalPolicy {
  /** Whether the model is asked with passages in front of the question. */
  searchFirst: boolean;
  /** Whether the model gets the search tool, and whether its first step has to be a search. */
  tool: 'offered' | 'forced' | 'withheld';
}

export const policies: Readonly<Record<Policy, RetrievalPolicy>> = {
  /** The model decides whether and what to search. */
  tool: { searchFirst: false, tool: 'offered' },
  /** Retrieve first, then ask with the passages in the prompt; the model has no say in it. */
  always: { searchFirst: true, tool: 'withheld' },
  /** The first step has to be a search; after it the model is free. */
  first: { searchFirst: false, tool: 'forced' },
  /** No retrieval at all: the baseline. */
  never: { searchFirst: false, tool: 'withheld' },
};
