import type { Policy } from '../../domain/agent-config.ts';
import type { RetrievalContext } from '../../domain/retrieval-context.ts';

/** What a policy can do before the model is asked. */
export interface PolicyTools {
  /** A question that follows on others, as a query that stands on its own. */
  standalone(question: string): Promise<string>;
  search(query: string): Promise<RetrievalContext>;
  /** The question with the passages in front of it. */
  withContext(context: RetrievalContext, question: string): string;
}

/** Who decides to retrieve. All policies share retriever, citations and record, so that they compare. */
export interface RetrievalPolicy {
  readonly name: Policy;
  /** Whether the model gets the search tool, and whether its first step has to be a search. */
  readonly tool: 'offered' | 'forced' | 'withheld';
  /** What the model is asked. */
  prompt(question: string, tools: PolicyTools): Promise<string>;
}
