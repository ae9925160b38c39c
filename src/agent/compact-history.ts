import type { ConversationMessage } from '../domain/conversation-message.ts';
import { mergeCitedResults, readToolResponse } from '../domain/retrieval-tool-response.ts';
import { type FittedHistory, fitHistory } from '../domain/token-budget.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';

/** The history of a prompt: each past turn keeps only the passages its answer cites, and the oldest messages go first. */
export function compactHistory(
  messages: readonly ConversationMessage[],
  limits: { maxTokens: number; maxMessages: number },
): FittedHistory {
  return fitHistory(splitTurns(messages).flatMap(compactTurn), limits);
}

/** Each turn begins with a user message; the system message comes before the first. */
function splitTurns(messages: readonly ConversationMessage[]): ConversationMessage[][] {
  const turns: ConversationMessage[][] = [];
  for (const message of messages) {
    if (message.role === 'user' || turns.length === 0) turns.push([]);
    turns.at(-1)?.push(message);
  }
  return turns;
}

/**
 * A past turn as question, one search with the cited passages, and answer. The result is the same in every later prompt,
 * so that services can cache the prefix.
 */
function compactTurn(turn: ConversationMessage[]): ConversationMessage[] {
  const answer = turn.at(-1);
  if (answer === undefined) return turn;
  const searches = turn.flatMap((message) => {
    const response = message.role === 'tool' ? readToolResponse(message.content) : null;
    return response === null ? [] : [{ message, response }];
  });
  const refs = new Set(answer.citations.map(({ marker }) => marker));
  const cited = mergeCitedResults(
    searches.map(({ response }) => response),
    refs,
  );
  const search = searches.find(({ response }) => response.query === cited?.query)?.message;
  if (cited === null || search?.role !== 'tool') return turn;
  const content = JSON.stringify(cited);
  return turn.flatMap((message): ConversationMessage[] => {
    if (message === search) return [{ ...search, content, tokenCount: estimateTokens(content) }];
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return [message];
    const toolCalls = message.toolCalls.filter(({ id }) => id === search.toolCallId);
    return toolCalls.length === 0 ? [] : [{ ...message, toolCalls }];
  });
}
