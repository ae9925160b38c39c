import { advice, settingName } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { cutToTokenEstimate, estimateTokens } from '../text/estimate-tokens.ts';
import { cutAtSentence } from '../text/split-sentences.ts';
import type { ConversationMessage } from './conversation-message.ts';

/** How the context window of a model is divided, in tokens. */
export interface TokenBudget {
  system: number;
  retrieved: number;
  history: number;
  /** The question and the answer to it. */
  exchange: number;
}

const REFERENCE_WINDOW = 8192;

/** The default shares: 500, 4000, 2500 and 1192 of 8192 tokens, scaled to the window. Their sum is the window. */
export function splitWindow(contextWindow: number): TokenBudget {
  const share = (tokens: number) => Math.floor((tokens * contextWindow) / REFERENCE_WINDOW);
  const shares = { system: share(500), retrieved: share(4000), history: share(2500) };
  return { ...shares, exchange: contextWindow - shares.system - shares.retrieved - shares.history };
}

/**
 * The shares for a system prompt and an exchange of a given size: what they need beyond their default comes from the
 * history, then from the passages. Throws `context_overflow` if the window is too small for them.
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
        hint: advice`Shorten them, lower ${settingName('maxTokens')}, or raise ${settingName('contextWindow')} if the model has a larger one.`,
      },
    );
  }
  const retrieved = Math.min(shares.retrieved, left);
  return { system, retrieved, history: left - retrieved, exchange };
}

/** What a message adds to its text: role, keys and separators. */
export const MESSAGE_TOKENS = 8;

/** Tokens that the most important text always gets. */
const MIN_SHOWN_TOKENS = 100;

/**
 * The texts that fit into `maxTokens` together, in their order and with their index. Drops the least important first, of equals the last. The
 * most important always stays, cut at the end of a sentence or line if needed. A label is shown and counted with its text.
 */
export function fitTexts(
  items: readonly { text: string; label: string; importance: number }[],
  maxTokens: number,
) {
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
  const tokensForText = Math.max(maxTokens, MIN_SHOWN_TOKENS) - estimateTokens(label);
  const text = cutAtSentence(only.text, cutToTokenEstimate(only.text, Math.max(tokensForText, 0)).length);
  return [{ ...only, text, tokens: tokensOf(text, label) }];
}

function tokensOf(text: string, label: string): number {
  return estimateTokens(JSON.stringify(text) + label);
}

/**
 * Drops the oldest messages until the rest fits: all but the system message into `maxTokens`, questions and answers into
 * `maxMessages`. The system message always stays. A tool call and its results stay or go together; incomplete ones are
 * dropped, because no model accepts them; the rest starts with a question. `exceeded` is the limit for which messages
 * were dropped.
 */
export function fitHistory(
  history: readonly ConversationMessage[],
  limits: { maxTokens: number; maxMessages?: number },
) {
  const kept = new Set(history.filter(({ role }) => role === 'system'));
  let tokens = 0;
  let count = 0;
  let exceeded: 'tokens' | 'messages' | null = null;
  for (const unit of completeUnits(history).reverse()) {
    tokens += sumTokens(unit);
    count += unit.filter(isQuestionOrAnswer).length;
    if (tokens > limits.maxTokens) exceeded = 'tokens';
    else if (count > (limits.maxMessages ?? Number.POSITIVE_INFINITY)) exceeded = 'messages';
    if (exceeded !== null) break;
    for (const message of unit) kept.add(message);
  }
  const messages = history.filter((message) => kept.has(message));
  // A history that was cut must not start with an answer: services refuse it, and it has no question.
  const first = messages.findIndex(({ role }) => role === 'user');
  const start = first < 0 ? messages.length : first;
  return {
    messages: messages.filter(({ role }, index) => role === 'system' || index >= start),
    exceeded,
  };
}

/** Groups that stay or go as a whole: a message, or tool calls with all their results. */
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

function isQuestionOrAnswer(message: ConversationMessage): boolean {
  return message.role !== 'tool' && !(message.role === 'assistant' && message.toolCalls.length > 0);
}

export function sumTokens(counted: readonly { tokenCount: number }[]): number {
  return counted.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}
