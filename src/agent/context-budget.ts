import { type AgentConfig, isLocalModel } from '../domain/agent-config.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import { splitTurns } from '../domain/conversation-session.ts';
import {
  type RetrievalContext,
  type ShownContext,
  type ShowOptions,
  showContext,
} from '../domain/retrieval-context.ts';
import {
  formatToolResponse,
  mergeCitedResults,
  parseToolResponse,
} from '../domain/retrieval-tool-response.ts';
import { fitHistory, MESSAGE_TOKENS, planWindow } from '../domain/token-budget.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import type { TurnEvents } from './turn-record.ts';

/** The context window of the model: as configured, until its service reports less. */
export interface ContextWindow {
  tokens: number;
}

/** The tokens that a turn needs before any history and passages. */
export function reservedTokens(
  { maxTokens }: AgentConfig,
  instructions: string,
  question: string,
  tools: readonly ToolDefinition[] = [],
) {
  const system = estimateTokens(instructions) + estimateTokens(tools.map(formatDefinition).join(''));
  return {
    system: system + MESSAGE_TOKENS,
    exchange: estimateTokens(question) + MESSAGE_TOKENS + maxTokens,
  };
}

/** The part of a tool that a model gets. */
export interface ToolDefinition {
  name: string;
  description?: string;
  parameters?: unknown;
}

function formatDefinition({ name, description, parameters }: ToolDefinition): string {
  return JSON.stringify({ type: 'function', function: { name, description, parameters, strict: false } });
}

/**
 * Divides the window for one turn: the history that fits, and the tokens left for passages. Throws `context_overflow` if
 * prompt, question and answer alone do not fit.
 */
export function divideContextWindow(
  config: AgentConfig,
  window: ContextWindow,
  given: {
    instructions: string;
    question: string;
    history: readonly ConversationMessage[];
    tools: readonly ToolDefinition[];
  },
  events: Pick<TurnEvents, 'noticeOnce'>,
): { history: ConversationMessage[]; passageTokens: number } {
  const needed = reservedTokens(config, given.instructions, given.question, given.tools);
  const plan = planWindow(window.tokens, needed);
  const limits = { maxTokens: plan.history, maxMessages: config.maxHistory };
  const { messages, exceeded } = fitHistory(
    splitTurns(given.history).flatMap(compactTurn).map(withFrame),
    limits,
  );
  // The offline model uses only the end of the history.
  if (exceeded !== null && !isLocalModel(config.model)) {
    events.noticeOnce(
      'history',
      'The conversation is too long for the model: it no longer sees the oldest messages, which stay in the session. ' +
        `Raise ${exceeded === 'messages' ? 'maxHistory' : 'contextWindow'} to include more of them.`,
    );
  }
  return { history: messages, passageTokens: plan.retrieved };
}

/** Counts what a message adds to its text. */
function withFrame(message: ConversationMessage): ConversationMessage {
  return { ...message, tokenCount: message.tokenCount + MESSAGE_TOKENS };
}

/**
 * A past turn as question, one search with the cited passages, and answer. The result is the same in every later prompt,
 * so that services can cache the prefix.
 */
function compactTurn(turn: ConversationMessage[]): ConversationMessage[] {
  const answer = turn.at(-1);
  if (answer === undefined) return turn;
  const searches = turn.flatMap((message) => {
    const response = message.role === 'tool' ? parseToolResponse(message.content) : null;
    return response === null ? [] : [{ message, response }];
  });
  const refs = new Set(answer.citations.map(({ marker }) => marker));
  const cited = mergeCitedResults(
    searches.map(({ response }) => response),
    refs,
  );
  const search = searches.find(({ response }) => response.query === cited?.query)?.message;
  if (cited === null || search?.role !== 'tool') return turn;
  const content = formatToolResponse(cited);
  return turn.flatMap((message): ConversationMessage[] => {
    if (message === search) return [{ ...search, content, tokenCount: estimateTokens(content) }];
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return [message];
    const toolCalls = message.toolCalls.filter(({ id }) => id === search.toolCallId);
    return toolCalls.length === 0 ? [] : [{ ...message, toolCalls }];
  });
}

/** What a search adds beside its passages: the call, its message and the other fields of the response. */
const SEARCH_TOKENS = 80;

/** The tokens that all searches of a turn share. */
export class PassageBudget {
  #tokensLeft: number;
  readonly #events: Pick<TurnEvents, 'noticeOnce'>;
  readonly #isLocal: boolean;

  constructor(maxTokens: number, events: Pick<TurnEvents, 'noticeOnce'>, { model }: AgentConfig) {
    this.#tokensLeft = maxTokens;
    this.#events = events;
    this.#isLocal = isLocalModel(model);
  }

  /** Fits a retrieval into the tokens that are left and uses them up. The best passage is always shown, cut if needed. */
  show(context: RetrievalContext, showing?: ShowOptions): ShownContext {
    const shown = showContext(context, Math.max(0, this.#tokensLeft - SEARCH_TOKENS), showing);
    this.#tokensLeft = Math.max(0, this.#tokensLeft - SEARCH_TOKENS - shown.context.totalTokens);
    if (shown.context.leftOut > 0 && !this.#isLocal) {
      this.#events.noticeOnce(
        'passages',
        "Not all passages fit into the model's window; those with the lowest scores are left out. " +
          'Raise contextWindow or lower topK.',
      );
    }
    return shown;
  }
}
