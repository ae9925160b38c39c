import type { FinishReason, TokensUsed } from '../domain/agent-response.ts';
import type { Citation } from '../domain/citation.ts';
import type { ConversationMessage, ToolCall } from '../domain/conversation-message.ts';
import {
  type ConversationTurn,
  type LedgerEntry,
  toAnswerEntry,
  toSearchEntry,
} from '../domain/conversation-turn.ts';
import type { Query } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import type { RunEvent, TurnPhase } from '../domain/run-event.ts';
import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import type { Runtime } from '../ports/runtime.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';

/** Emits the events of one turn, in the order in which they happen. */
export class TurnEvents {
  readonly emit: (event: RunEvent) => void;
  readonly #noticed: Set<string>;
  #phase: TurnPhase = 'idle';

  /** `noticed` has the subjects of notices that the conversation already had. */
  constructor(emit: (event: RunEvent) => void, noticed: Set<string> = new Set()) {
    this.emit = emit;
    this.#noticed = noticed;
  }

  /** Emits a notice unless the conversation already had one on this subject. */
  noticeOnce(subject: string, message: string): void {
    if (this.#noticed.has(subject)) return;
    this.#noticed.add(subject);
    this.emit({ type: 'notice', message });
  }

  /** Emits a change of phase; nothing if the phase stays the same. */
  enterPhase(phase: TurnPhase): void {
    if (phase === this.#phase) return;
    this.emit({ type: 'phase', from: this.#phase, to: phase });
    this.#phase = phase;
  }

  complete(turn: ConversationTurn): void {
    this.enterPhase('idle');
    this.emit({ type: 'turn_completed', turn });
  }

  /** Emits the last event of a failed turn. Rethrows an interruption and anything that is not an AppError. */
  fail(error: unknown): void {
    if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
    this.enterPhase('error');
    this.enterPhase('idle');
    this.emit({ type: 'error', error: toErrorResponse(error) });
  }
}

/** Collects the messages, searches, tokens and ledger of a turn while it runs. */
export class TurnRecord {
  readonly messages: ConversationMessage[] = [];
  readonly retrievals: RetrievalContext[] = [];
  readonly tokensUsed: TokensUsed = { prompt: 0, completion: 0, total: 0 };
  /** Tool executions, plus a search made before the model was called. */
  retrievalCount = 0;
  retrievalTimeMs = 0;
  /** The current step, from 1: a model response with its searches, or a search made before the model was called. */
  step = 0;
  /** Why the last response of the model ended. */
  finishReason: FinishReason = 'stop';
  readonly #runtime: Runtime;
  readonly #ledger: LedgerEntry[] = [];
  #lastSearchError: AppError | null = null;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** The last search error, if every search of the turn failed. */
  get searchError(): AppError | null {
    return this.retrievals.length > 0 ? null : this.#lastSearchError;
  }

  addQuestion(content: string): void {
    this.messages.push({ ...this.#messageFields(content), role: 'user', content });
  }

  addAnswer(content: string, citations: Citation[]): void {
    const fields = { ...this.#messageFields(content), citations };
    this.messages.push({ ...fields, role: 'assistant', content, toolCalls: [] });
  }

  addToolCalls(text: string, toolCalls: ToolCall[]): void {
    const counted = text + toolCalls.map((call) => call.name + call.arguments).join('');
    const fields = this.#messageFields(counted);
    this.messages.push({ ...fields, role: 'assistant', content: text || null, toolCalls });
  }

  addToolResult({ id, name }: ToolCall, content: string): void {
    this.messages.push({ ...this.#messageFields(content), role: 'tool', content, toolCallId: id, name });
  }

  addRetrieval(context: RetrievalContext): void {
    this.retrievals.push(context);
    this.#ledger.push(toSearchEntry(this.step, context));
  }

  addFailedSearch({ text, filter }: Query, error: AppError): void {
    this.#ledger.push({ step: this.step, searched: true, query: text, filter, chunks: [], cited: [] });
    this.#lastSearchError = error;
  }

  /** Counts a tool execution, failed or not. */
  countToolUse(elapsedMs: number): void {
    this.retrievalCount += 1;
    this.retrievalTimeMs += elapsedMs;
  }

  countTokens({ prompt, completion, estimated }: TokensUsed): void {
    this.tokensUsed.prompt += prompt;
    this.tokensUsed.completion += completion;
    this.tokensUsed.total += prompt + completion;
    if (estimated) this.tokensUsed.estimated = true;
  }

  beginStep(): void {
    this.#closeStep();
    this.step += 1;
  }

  /** Closes the last step and returns the ledger. */
  finishSteps(): LedgerEntry[] {
    this.#closeStep();
    return this.#ledger;
  }

  #closeStep(): void {
    const { step } = this;
    if (step > 0 && !this.#ledger.some((entry) => entry.step === step))
      this.#ledger.push(toAnswerEntry(step));
  }

  #messageFields(content: string) {
    return {
      id: this.#runtime.newId(),
      citations: [],
      tokenCount: estimateTokens(content),
      timestamp: this.#runtime.now().toISOString(),
      metadata: {},
    };
  }
}
