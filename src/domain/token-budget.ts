import type { ConversationMessage } from './conversation-message.ts';

/** How the context window of a model is shared out, in tokens. */
export interface TokenBudget {
  system: number;
  retrieved: number;
  history: number;
  /** The question and the answer to it. */
  exchange: number;
}

const REFERENCE_WINDOW = 8192;

/** The shares of a window: 500, 4000, 2500 and 1192 of 8192, and in proportion otherwise. They add up to it. */
export function splitWindow(contextWindow: number): TokenBudget {
  const share = (tokens: number) => Math.floor((tokens * contextWindow) / REFERENCE_WINDOW);
  const shares = { system: share(500), retrieved: share(4000), history: share(2500) };
  return { ...shares, exchange: contextWindow - shares.system - shares.retrieved - shares.history };
}

export interface FittedHistory {
  /** What is left, in order. */
  messages: ConversationMessage[];
  /** What had to go, in order. */
  dropped: ConversationMessage[];
  droppedTokens: number;
}

interface HistoryLimits {
  /** Bounds the messages other than the system message, which has a share of its own. */
  maxTokens: number;
  maxMessages?: number;
}

/**
 * Drops the oldest messages until the rest fits. The system message always stays. A tool call and its
 * results stay or go together, and what has lost its other half already goes: no model accepts it.
 */
export function fitHistory(history: readonly ConversationMessage[], limits: HistoryLimits): FittedHistory {
  const kept = new Set(history.filter(({ role }) => role === 'system'));
  let tokens = 0;
  let count = 0;
  for (const unit of completeUnits(history).reverse()) {
    tokens += sumTokens(unit);
    count += unit.length;
    if (tokens > limits.maxTokens || count > (limits.maxMessages ?? Number.POSITIVE_INFINITY)) break;
    for (const message of unit) kept.add(message);
  }
  const dropped = history.filter((message) => !kept.has(message));
  return {
    messages: history.filter((message) => kept.has(message)),
    dropped,
    droppedTokens: sumTokens(dropped),
  };
}

/** What can only stay or go as a whole: a message, or tool calls with all of their results. */
function completeUnits(history: readonly ConversationMessage[]): ConversationMessage[][] {
  const units: { messages: ConversationMessage[]; awaited: Set<string> }[] = [];
  for (const message of history) {
    if (message.role === 'system') continue;
    if (message.role === 'tool') {
      const last = units.at(-1);
      if (last?.awaited.delete(message.toolCallId)) last.messages.push(message);
      continue;
    }
    const calls = message.role === 'assistant' ? message.toolCalls : [];
    units.push({ messages: [message], awaited: new Set(calls.map(({ id }) => id)) });
  }
  return units.filter(({ awaited }) => awaited.size === 0).map(({ messages }) => messages);
}

function sumTokens(messages: readonly ConversationMessage[]): number {
  return messages.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}
