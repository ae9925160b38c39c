import type { Model } from '@openai/agents-core';
import type { AgentConfig } from '../../domain/agent-config.ts';
import { toErrorResponse } from '../../faults/error-response.ts';
import { formatRetryNotice } from '../../faults/retry.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { ContextWindow } from '../context-budget.ts';
import type { TurnEvents } from '../turn-record.ts';
import type { ModelErrorContext } from './model-errors.ts';
import { withIdleTimeout } from './with-idle-timeout.ts';
import { withOverflowTrim } from './with-overflow-trim.ts';
import { withRetries } from './with-retries.ts';
import { withUnusableAnswerErrors } from './with-unusable-answer-errors.ts';
import { withoutStreaming } from './without-streaming.ts';

const IDLE_TIMEOUT_MS = 60_000;

interface ModelDependencies {
  config: AgentConfig;
  model: Model;
  window: ContextWindow;
  runtime: Runtime;
  errorContext?: ModelErrorContext | undefined;
}

/** The model with a check of its responses, an idle timeout, retries, and shorter requests after an overflow. */
export function guardModel(
  { config, model, window, runtime, errorContext }: ModelDependencies,
  events: TurnEvents,
  signal: AbortSignal,
): Model {
  const asked = config.stream ? model : withoutStreaming(model);
  const checked = withUnusableAnswerErrors(asked, config.maxAnswerCharacters);
  const timed = withIdleTimeout(checked, IDLE_TIMEOUT_MS);
  const retried = withRetries(timed, {
    signal,
    random: runtime.random,
    sleep: runtime.sleep,
    context: errorContext,
    onRetry: (retry) =>
      events.emit({
        type: 'notice',
        message: formatRetryNotice(retry),
        retry: { ...retry, error: toErrorResponse(retry.error) },
      }),
  });
  return withOverflowTrim(retried, (reported, accepted) => {
    // Kept for later turns. Without a reported size: what requests are shortened to, at least a question and its answer.
    const learned = reported ?? Math.max(accepted, 1000 + config.maxTokens) + config.maxTokens;
    window.tokens = Math.min(window.tokens, Math.floor(learned));
    const size = reported === undefined ? `smaller than ${window.tokens}` : String(reported);
    events.noticeOnce(
      'overflow',
      `The model's window is ${size} tokens: the oldest messages and the weakest passages were left out. ` +
        'Set contextWindow to the size of the window.',
    );
  });
}
