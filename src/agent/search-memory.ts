import type { Query } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';

/** Remembered queries; a conversation that asks more different ones forgets the oldest. */
const MAX_REMEMBERED = 200;

/**
 * The searches of one conversation. Two are the same if they ask for as many passages of the same documents, in words
 * that differ by case and spaces at most.
 */
export interface SearchMemory {
  /** From now on, what was asked before was asked in an earlier turn. */
  beginTurn(): void;
  /** Whether the turn under way has asked for this before; from now on it has. */
  asksAgain(query: Query): boolean;
  /** What was found for it in this conversation, if it was ever looked for. */
  recall(query: Query): RetrievalContext | undefined;
  remember(query: Query, found: RetrievalContext): void;
}

export function createSearchMemory(): SearchMemory {
  const found = new Map<string, RetrievalContext>();
  const askedInTurn = new Set<string>();
  return {
    beginTurn: () => askedInTurn.clear(),
    asksAgain(query) {
      const key = keyOf(query);
      if (askedInTurn.has(key)) return true;
      askedInTurn.add(key);
      return false;
    },
    recall: (query) => found.get(keyOf(query)),
    remember(query, context) {
      found.set(keyOf(query), context);
      const [oldest] = found.keys();
      if (found.size > MAX_REMEMBERED && oldest !== undefined) found.delete(oldest);
    },
  };
}

function keyOf({ text, topK, filter, scoreThreshold }: Query): string {
  return JSON.stringify([text.trim().toLowerCase().replace(/\s+/g, ' '), topK, filter, scoreThreshold]);
}
