import { advice, setting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { cutToTokenEstimate, estimateTokens } from '../text/estimate-tokens.ts';
import { cutAtSentence } from '../text/split-sentences.ts';
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

/**
 * The shares as they come out when the system prompt and the exchange have a size: what these need beyond their own
 * is taken from the history, and then from the passages. Throws `context_overflow` if the window cannot hold them.
 */
export function planWindow(
  contextWindow: number,
  needs: Pick<TokenBudget, 'system' | 'exchange'>,
): TokenBudget {
  const shares = splitWindow(contextWindow);
  const system = Math.max(shares.system, needs.system);
  const exchange = Math.max(shares.exchange, needs.exchange);
  const left = contextWindow - system - exchange;
  if (left < 0) {
    throw new AppError(
      'context_overflow',
      `The system prompt (about ${needs.system} tokens) and the question with its answer (up to ${needs.exchange}) ` +
        `do not fit into the model's window of ${contextWindow} tokens.`,
      {
        hint: advice`Shorten them, lower ${setting('maxTokens')}, or raise ${setting('contextWindow')} if the model has a larger one.`,
      },
    );
  }
  const retrieved = Math.min(shares.retrieved, left);
  return { system, retrieved, history: left - retrieved, exchange };
}

/** Something that is shown to the model if there is room for it. */
export interface Showable {
  text: string;
  /** What is shown with it, and costs as well: its title and its address. */
  label: string;
  /** What has less goes first. */
  importance: number;
}

export interface ShownText {
  /** Which of them it is, from 0. */
  index: number;
  text: string;
  tokens: number;
}

/** The least that is shown of the best, however little room is left: less says nothing. */
const LEAST_SHOWN = 100;

/**
 * What fits together, in its order: the least important goes first, and of equals the last. The most important always
 * stays, cut where a sentence or a line ends if there is no room for all of it: what was found is never shown as nothing.
 */
export function fitTexts(items: readonly Showable[], maxTokens: number): ShownText[] {
  const shown = items.map(({ text, label }, index) => ({ index, text, tokens: tokensOf(text, label) }));
  const importanceOf = (index: number) => items[index]?.importance ?? 0;
  const worstFirst = [...shown]
    .reverse()
    .sort((one, other) => importanceOf(one.index) - importanceOf(other.index));
  const dropped = new Set<number>();
  let tokens = shown.reduce((sum, each) => sum + each.tokens, 0);
  for (const { index, tokens: cost } of worstFirst.slice(0, -1)) {
    if (tokens <= maxTokens) break;
    dropped.add(index);
    tokens -= cost;
  }
  const kept = shown.filter(({ index }) => !dropped.has(index));
  const [only] = kept;
  if (tokens <= maxTokens || only === undefined) return kept;
  const label = items[only.index]?.label ?? '';
  const room = Math.max(maxTokens, LEAST_SHOWN) - estimateTokens(label);
  const text = cutAtSentence(only.text, cutToTokenEstimate(only.text, Math.max(room, 0)).length);
  return [{ ...only, text, tokens: tokensOf(text, label) }];
}

function tokensOf(text: string, label: string): number {
  return estimateTokens(text) + estimateTokens(label);
}

export interface FittedHistory {
  /** What is left, in order. */
  messages: ConversationMessage[];
  /** What had to go, in order. */
  dropped: ConversationMessage[];
  droppedTokens: number;
  /** Which limit it was dropped for; null where there was room for all. */
  exceeded: 'tokens' | 'messages' | null;
}

interface HistoryLimits {
  /** Bounds the messages other than the system message, which has a share of its own. */
  maxTokens: number;
  /** Bounds what was said; searches are carried along with it, as far as the tokens go. */
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
  let exceeded: FittedHistory['exceeded'] = null;
  for (const unit of completeUnits(history).reverse()) {
    tokens += sumTokens(unit);
    count += unit.filter(isSaid).length;
    if (tokens > limits.maxTokens) exceeded = 'tokens';
    else if (count > (limits.maxMessages ?? Number.POSITIVE_INFINITY)) exceeded = 'messages';
    if (exceeded !== null) break;
    for (const message of unit) kept.add(message);
  }
  const dropped = history.filter((message) => !kept.has(message));
  return {
    messages: history.filter((message) => kept.has(message)),
    dropped,
    droppedTokens: sumTokens(dropped),
    exceeded,
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

function isSaid(message: ConversationMessage): boolean {
  return message.role !== 'tool' && !(message.role === 'assistant' && message.toolCalls.length > 0);
}

function sumTokens(messages: readonly ConversationMessage[]): number {
  return messages.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}
