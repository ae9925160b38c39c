import type { ConversationMessage, ToolMessage } from '../domain/conversation-message.ts';
import { readToolResponse, type ToolResult, withCitedOnly } from '../domain/retrieval-tool-response.ts';
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
 * A turn that is over with what its answer cited of what was found. Its form is the same in every later prompt, so that
 * these go on as they began, and services that keep what they have read need not read it again.
 */
function carried(turn: ConversationMessage[]): ConversationMessage[] {
  const answer = turn.at(-1);
  if (answer === undefined || !turn.some(({ role }) => role === 'tool')) return turn;
  const before = known.get(answer);
  if (before !== undefined) return before;
  const refs = new Set(answer.citations.map(({ marker }) => marker));
  const shown = new Set<string>();
  const isCarried = ({ ref, text }: ToolResult) => {
    const key = `${ref} ${text}`;
    if (!refs.has(ref) || shown.has(key)) return false;
    shown.add(key);
    return true;
  };
  const form = turn.map((message) => (message.role === 'tool' ? reduced(message, isCarried) : message));
  known.set(answer, form);
  return form;
}

/** A result of a search without what was not cited. What is no such result stays as it is. */
function reduced(message: ToolMessage, isCarried: (result: ToolResult) => boolean): ToolMessage {
  const response = readToolResponse(message.content);
  if (response === null || response.results.length === 0) return message;
  const content = JSON.stringify(withCitedOnly(response, isCarried));
  return { ...message, content, tokenCount: estimateTokens(content) };
}
