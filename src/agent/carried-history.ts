import type { ConversationMessage } from '../domain/conversation-message.ts';
import { citedOf, readToolResponse } from '../domain/retrieval-tool-response.ts';
import { type FittedHistory, fitHistory } from '../domain/token-budget.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';

/** The past as a prompt carries it, as far as it fits, and what had to go. */
export function fittingHistory(
  messages: readonly ConversationMessage[],
  limits: { maxTokens: number; maxMessages: number },
): FittedHistory {
  return fitHistory(turnsOf(messages).flatMap(carried), limits);
}

/** From one question to the next; the system message stands before the first. */
function turnsOf(messages: readonly ConversationMessage[]): ConversationMessage[][] {
  const turns: ConversationMessage[][] = [];
  for (const message of messages) {
    if (message.role === 'user' || turns.length === 0) turns.push([]);
    turns.at(-1)?.push(message);
  }
  return turns;
}

/** By the last message of a turn, its answer: what it comes to is found out once. */
const known = new WeakMap<ConversationMessage, ConversationMessage[]>();

/**
 * A turn that is over: its question, its answer, and between them one search with what the answer cited. Its form is the
 * same in every later prompt, so that these go on as they began, and services that keep what they have read need not
 * read it again.
 */
function carried(turn: ConversationMessage[]): ConversationMessage[] {
  const answer = turn.at(-1);
  if (answer === undefined) return turn;
  const form = known.get(answer) ?? withCitedAlone(turn, answer);
  known.set(answer, form);
  return form;
}

function withCitedAlone(turn: ConversationMessage[], answer: ConversationMessage): ConversationMessage[] {
  const searches = turn.flatMap((message) => {
    const response = message.role === 'tool' ? readToolResponse(message.content) : null;
    return response === null ? [] : [{ message, response }];
  });
  const refs = new Set(answer.citations.map(({ marker }) => marker));
  const evidence = citedOf(
    searches.map(({ response }) => response),
    refs,
  );
  const search = searches.find(({ response }) => response.query === evidence?.query)?.message;
  if (evidence === null || search?.role !== 'tool') return turn;
  const content = JSON.stringify(evidence);
  return turn.flatMap((message): ConversationMessage[] => {
    if (message === search) return [{ ...search, content, tokenCount: estimateTokens(content) }];
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return [message];
    const toolCalls = message.toolCalls.filter(({ id }) => id === search.toolCallId);
    return toolCalls.length === 0 ? [] : [{ ...message, toolCalls }];
  });
}
