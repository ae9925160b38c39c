import type { FinishReason, TokensUsed } from '../domain/agent-response.ts';
import type { ConversationMessage, ToolCall } from '../domain/conversation-message.ts';
import {
  answeredStep,
  type ConversationTurn,
  type Decision,
  searchedStep,
} from '../domain/conversation-turn.ts';
import type { Query } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import type { Phase, RunEvent } from '../domain/run-event.ts';
import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import type { Runtime } from '../ports/runtime.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';

/** Emits the events of one turn, in the order in which they happen. */
export interface TurnEvents {
  emit(event: RunEvent): void;
  /** Emits a notice unless the conversation already had one on this subject. */
  noticeOnce(subject: string, message: string): void;
  /** Emits a change of phase; nothing if the phase stays the same. */
  enterPhase(phase: Phase): void;
  complete(turn: ConversationTurn): void;
  /** Emits the last event of a failed turn. Rethrows an interruption and anything that is not an AppError. */
  fail(error: unknown): void;
}

/** `noticed` has the subjects of notices that the conversation already had. */
export function createTurnEvents(
  emit: (event: RunEvent) => void,
  noticed: Set<string> = new Set(),
): TurnEvents {
  let phase: Phase = 'idle';
  function enterPhase(to: Phase): void {
    if (to === phase) return;
    emit({ type: 'phase', from: phase, to });
    phase = to;
  }
  return {
    emit,
    noticeOnce(subject, message) {
      if (noticed.has(subject)) return;
      noticed.add(subject);
      emit({ type: 'notice', message });
    },
    enterPhase,
    complete(turn) {
      enterPhase('idle');
      emit({ type: 'turn_completed', turn });
    },
    fail(error) {
      if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
      enterPhase('error');
      enterPhase('idle');
      emit({ type: 'error', error: toErrorResponse(error) });
    },
  };
}

/** Collects the messages, searches, tokens and ledger of a turn while it runs. */
export interface TurnRecord {
  readonly messages: ConversationMessage[];
  readonly retrievals: RetrievalContext[];
  readonly tokensUsed: TokensUsed;
  /** Tool executions, plus a search made before the model was called. */
  readonly retrievalCount: number;
  readonly retrievalTimeMs: number;
  /** The last search error, if every search of the turn failed. */
  readonly searchError: AppError | null;
  /** The current step, from 1. */
  readonly step: number;
  /** Why the last response of the model ended. */
  readonly finishReason: FinishReason;
  addQuestion(text: string): void;
  addAnswer(text: string, citations: ConversationMessage['citations']): void;
  addToolCalls(text: string | null, calls: readonly ToolCall[]): void;
  addToolResult(call: ToolCall, content: string): void;
  addRetrieval(context: RetrievalContext): void;
  addFailedSearch(query: Query, error: AppError): void;
  /** Counts a tool execution, failed or not. */
  countToolUse(elapsedMs: number): void;
  countTokens(used: TokensUsed): void;
  /** A step is a model response with the searches it requested, or a search made before the model was called. */
  beginStep(): void;
  endStep(used: TokensUsed, finishReason: FinishReason): void;
  /** Records that the model was stopped before it answered. */
  stopAtMaxSteps(): void;
  /** Closes the last step and returns the ledger. */
  finishSteps(): Decision[];
}

export function createTurnRecord(runtime: Runtime): TurnRecord {
  const messages: ConversationMessage[] = [];
  const retrievals: RetrievalContext[] = [];
  const decisions: Decision[] = [];
  const tokensUsed: TokensUsed = { prompt: 0, completion: 0, total: 0 };
  let retrievalCount = 0;
  let retrievalTimeMs = 0;
  let lastSearchError: AppError | null = null;
  let step = 0;
  let finishReason: FinishReason = 'stop';

  const messageFields = (content: string) => ({
    id: runtime.newId(),
    citations: [],
    tokenCount: estimateTokens(content),
    timestamp: runtime.now().toISOString(),
    metadata: {},
  });

  function countTokens({ prompt, completion, estimated }: TokensUsed): void {
    tokensUsed.prompt += prompt;
    tokensUsed.completion += completion;
    tokensUsed.total += prompt + completion;
    if (estimated) tokensUsed.estimated = true;
  }

  function closeStep(): void {
    if (step > 0 && !decisions.some((decision) => decision.step === step)) decisions.push(answeredStep(step));
  }

  return {
    messages,
    retrievals,
    tokensUsed,
    get retrievalCount() {
      return retrievalCount;
    },
    get retrievalTimeMs() {
      return retrievalTimeMs;
    },
    get searchError() {
      return retrievals.length > 0 ? null : lastSearchError;
    },
    get step() {
      return step;
    },
    get finishReason() {
      return finishReason;
    },
    addQuestion(content) {
      messages.push({ ...messageFields(content), role: 'user', content });
    },
    addAnswer(content, citations) {
      messages.push({ ...messageFields(content), role: 'assistant', content, toolCalls: [], citations });
    },
    addToolCalls(content, toolCalls) {
      const counted = (content ?? '') + toolCalls.map((call) => call.name + call.arguments).join('');
      messages.push({
        ...messageFields(counted),
        role: 'assistant',
        content: content || null,
        toolCalls: [...toolCalls],
      });
    },
    addToolResult({ id, name }, content) {
      messages.push({ ...messageFields(content), role: 'tool', content, toolCallId: id, name });
    },
    addRetrieval(context) {
      retrievals.push(context);
      decisions.push(searchedStep(step, context));
    },
    addFailedSearch({ text, filter }, error) {
      decisions.push({ step, searched: true, query: text, filter, chunks: [], cited: [] });
      lastSearchError = error;
    },
    countToolUse(elapsedMs) {
      retrievalCount += 1;
      retrievalTimeMs += elapsedMs;
    },
    countTokens,
    beginStep() {
      closeStep();
      step += 1;
    },
    endStep(used, reason) {
      countTokens(used);
      finishReason = reason;
    },
    stopAtMaxSteps() {
      finishReason = 'max_steps';
    },
    finishSteps() {
      closeStep();
      return decisions;
    },
  };
}
