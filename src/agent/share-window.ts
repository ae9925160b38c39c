import type { AgentConfig } from '../domain/agent-config.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import {
  type RetrievalContext,
  type Showing,
  type ShownContext,
  showContext,
} from '../domain/retrieval-context.ts';
import { planWindow, splitWindow } from '../domain/token-budget.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import { fittingHistory } from './carried-history.ts';

/** Tells the person something that holds for the whole conversation, the first time only. */
type TellOnce = (subject: string, message: string) => void;

/** How much the model holds, in tokens: as configured, until its service tells of less. */
export interface ContextWindow {
  readonly tokens: number;
  learn(tokens: number): void;
}

export function createContextWindow(configured: number): ContextWindow {
  let tokens = configured;
  return {
    get tokens() {
      return tokens;
    },
    learn(told) {
      tokens = Math.min(tokens, told);
    },
  };
}

/** Sizes are estimates: a part that takes a little more than its share is nothing to tell. */
const WORTH_TELLING = 1.1;

/** What a turn needs of the window, whatever it retrieves and remembers. */
export function fixedNeeds({ maxTokens }: AgentConfig, instructions: string, question: string) {
  return { system: estimateTokens(instructions), exchange: estimateTokens(question) + maxTokens };
}

/**
 * The window shared out for this turn: the past as far as it fits, and the tokens for passages. Throws `context_overflow`
 * where a part has no room at all; the person is told once where one takes from the others, or the past is cut.
 */
export function shareWindow(
  config: AgentConfig,
  window: ContextWindow,
  given: { instructions: string; question: string; history: readonly ConversationMessage[] },
  tellOnce: TellOnce,
): { history: ConversationMessage[]; passageTokens: number } {
  const needs = fixedNeeds(config, given.instructions, given.question);
  const shares = splitWindow(window.tokens);
  const plan = planWindow(window.tokens, needs);
  if (needs.system > WORTH_TELLING * shares.system)
    tellOnce('system prompt', overShare('The system prompt', needs.system, shares.system, window));
  if (needs.exchange > WORTH_TELLING * shares.exchange) {
    tellOnce(
      'exchange',
      overShare('The question with its answer (maxTokens)', needs.exchange, shares.exchange, window),
    );
  }
  const limits = { maxTokens: plan.history, maxMessages: config.maxHistory };
  const { messages, tooMany } = fittingHistory(given.history, limits);
  if (tooMany !== null) tellOnce('history', forgets(tooMany));
  return { history: messages, passageTokens: plan.retrieved };
}

/** By the name that the setting has for everybody. */
const BY_CONTEXT_WINDOW = 'A larger contextWindow';

function overShare(what: string, needed: number, share: number, { tokens }: ContextWindow): string {
  return (
    `${what} may take about ${needed} tokens, more than the ${share} that a window of ${tokens} has for it: ` +
    `less is left for the conversation and for passages. ${BY_CONTEXT_WINDOW}, if the model has one, makes room.`
  );
}

/** What it means for a person that the oldest messages are left out, and what takes more of them along. */
function forgets(tooMany: 'tokens' | 'messages'): string {
  const more = tooMany === 'messages' ? 'A larger maxHistory' : BY_CONTEXT_WINDOW;
  return (
    'The conversation has grown long: from here on the model is not shown its oldest questions and answers, which are ' +
    'kept all the same. If you refer to one of them, say again what it was about.' +
    ` ${more} takes more of them along.`
  );
}

/** What the passages of a turn share: so many tokens of the window. */
export interface PassageRoom {
  /** What is shown of a retrieval, which takes its part of the room. There is always some for the best. */
  show(context: RetrievalContext, showing?: Showing): ShownContext;
}

export function createPassageRoom(maxTokens: number, tellOnce: TellOnce): PassageRoom {
  let left = maxTokens;
  return {
    show(context, showing) {
      const shown = showContext(context, left, showing);
      left = Math.max(0, left - shown.context.totalTokens);
      if (shown.context.leftOut > 0) {
        tellOnce(
          'passages',
          'Not all passages that were found fit into the window of the model; those that scored least are left out. ' +
            `${BY_CONTEXT_WINDOW}, or a smaller topK, makes room.`,
        );
      }
      return shown;
    },
  };
}
