import type { Model } from '@openai/agents-core';
import type { SourceRegister } from '../citations/source-register.ts';
import type { AgentConfig, Policy } from '../domain/agent-config.ts';
import type { FinishReason, TokensUsed } from '../domain/agent-response.ts';
import type { ConversationMessage, ToolCall } from '../domain/conversation-message.ts';
import {
  answeredStep,
  type ConversationTurn,
  type Decision,
  searchedStep,
} from '../domain/conversation-turn.ts';
import type { Filter, Query } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import type { Phase, RunEvent } from '../domain/run-event.ts';
import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import type { FaultContext } from './guards/to-app-error.ts';
import type { Briefing } from './model-input.ts';
import type { SearchMemory } from './search-memory.ts';
import type { ContextWindow, PassageRoom } from './share-window.ts';
import type { FindJudge, TurnJudge } from './turn-judge.ts';

/** What every turn of an agent stands on. */
export interface TurnDependencies {
  config: AgentConfig;
  model: Model;
  briefing(): Promise<Briefing>;
  window: ContextWindow;
  store: ChunkStore;
  retriever: Retriever;
  runtime: Runtime;
  /** Whether the model may also read around a hit. */
  readSource: boolean;
  /** Whether the SDK traces the run, with whatever processors it was given. */
  tracing: boolean;
  /** The judge of answers; without one they are checked by words alone. */
  findJudge: FindJudge;
  /** What sentences about faults of the model may name, and what they must not show. */
  faults?: FaultContext | undefined;
}

/** A question with what it is asked in. */
export interface TurnRequest {
  question: string;
  /** Messages of the past, oldest first. */
  history: readonly ConversationMessage[];
  policy: Policy;
  filter: Filter;
  /** What the person gives along. */
  attached?: string | undefined;
  signal?: AbortSignal | undefined;
  /** What the conversation has retrieved so far, and can cite. */
  sources: SourceRegister;
  searches: SearchMemory;
  sessionId: string;
  turnNumber: number;
}

/** A turn under way, as its steps share it. Its history is what fits of the past. */
export interface TurnState extends TurnDependencies, TurnRequest {
  progress: TurnProgress;
  record: TurnRecord;
  room: PassageRoom;
  judge: TurnJudge;
  /** The modules of the collection. */
  modules: readonly string[];
  /** Raised by the person, or when the time of the turn is up. */
  signal: AbortSignal;
}

/** Whether the model has its tools in the next step: the last of `maxSteps` has none, so that it must answer. */
export function mayUseTools({ record, config }: Pick<TurnState, 'record' | 'config'>): boolean {
  return record.step + 1 < config.maxSteps;
}

/** What a turn tells the outside, in the order in which it happens. */
export interface TurnProgress {
  emit(event: RunEvent): void;
  /** Tells the person something that holds for the whole conversation, the first time only. */
  tellOnce(subject: string, message: string): void;
  /** Tells a change of phase, and nothing where it stays the same. */
  enter(phase: Phase): void;
  complete(turn: ConversationTurn): void;
  /** The last event of a turn that failed. Throws the error itself if it was interrupted or is a defect. */
  fail(error: unknown): void;
}

/** `told` holds what the conversation was told of already. */
export function createTurnProgress(
  emit: (event: RunEvent) => void,
  told: Set<string> = new Set(),
): TurnProgress {
  let phase: Phase = 'idle';
  function enter(to: Phase): void {
    if (to === phase) return;
    emit({ type: 'phase', from: phase, to });
    phase = to;
  }
  return {
    emit,
    tellOnce(subject, message) {
      if (told.has(subject)) return;
      told.add(subject);
      emit({ type: 'notice', message });
    },
    enter,
    complete(turn) {
      enter('idle');
      emit({ type: 'turn_completed', turn });
    },
    fail(error) {
      if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
      enter('error');
      enter('idle');
      emit({ type: 'error', error: toErrorResponse(error) });
    },
  };
}

/** What a turn leaves behind while it runs: its messages, its searches and the ledger of its steps. */
interface TurnRecord {
  readonly messages: ConversationMessage[];
  readonly retrievals: RetrievalContext[];
  readonly tokensUsed: TokensUsed;
  /** How often a tool was executed, or a search made beforehand. */
  readonly retrievalCount: number;
  readonly retrievalTimeMs: number;
  /** Why the documents could not be searched, if every search of the turn failed. */
  readonly searchFault: AppError | null;
  /** The step that is under way, from 1. */
  readonly step: number;
  /** Why the last answer of the model ended. */
  readonly finishReason: FinishReason;
  question(text: string): void;
  answer(text: string, citations: ConversationMessage['citations']): void;
  /** A search, or reading around a hit, whatever came of it. */
  toolUsed(elapsedMs: number): void;
  retrieved(context: RetrievalContext): void;
  /** A search that brought nothing because it failed. */
  searchFailed(query: Query, why: AppError): void;
  toolCalls(text: string | null, calls: readonly ToolCall[]): void;
  toolResult(call: ToolCall, content: string): void;
  tokens(used: TokensUsed): void;
  /** A step is an answer of the model with the searches it asked for, or a search made beforehand. */
  beginStep(): void;
  endStep(used: TokensUsed, finishReason: FinishReason): void;
  /** The model was stopped before it came to an answer. */
  outOfSteps(): void;
  /** The ledger, complete. */
  endSteps(): Decision[];
}

export function createTurnRecord(runtime: Runtime): TurnRecord {
  const messages: ConversationMessage[] = [];
  const retrievals: RetrievalContext[] = [];
  const decisions: Decision[] = [];
  const tokensUsed: TokensUsed = { prompt: 0, completion: 0, total: 0 };
  let retrievalCount = 0;
  let retrievalTimeMs = 0;
  let lastFault: AppError | null = null;
  let step = 0;
  let finishReason: FinishReason = 'stop';

  const common = (content: string) => ({
    id: runtime.newId(),
    citations: [],
    tokenCount: estimateTokens(content),
    timestamp: runtime.now().toISOString(),
    metadata: {},
  });

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
    get searchFault() {
      return retrievals.length > 0 ? null : lastFault;
    },
    get step() {
      return step;
    },
    get finishReason() {
      return finishReason;
    },
    question(content) {
      messages.push({ ...common(content), role: 'user', content });
    },
    answer(content, citations) {
      messages.push({ ...common(content), role: 'assistant', content, toolCalls: [], citations });
    },
    toolUsed(elapsedMs) {
      retrievalCount += 1;
      retrievalTimeMs += elapsedMs;
    },
    retrieved(context) {
      retrievals.push(context);
      decisions.push(searchedStep(step, context));
    },
    searchFailed({ text, filter }, why) {
      decisions.push({ step, searched: true, query: text, filter, chunks: [], cited: [] });
      lastFault = why;
    },
    toolCalls(content, toolCalls) {
      const text = content ?? '';
      const size = text + toolCalls.map((call) => call.name + call.arguments).join('');
      messages.push({
        ...common(size),
        role: 'assistant',
        content: content || null,
        toolCalls: [...toolCalls],
      });
    },
    toolResult({ id, name }, content) {
      messages.push({ ...common(content), role: 'tool', content, toolCallId: id, name });
    },
    tokens: count,
    beginStep() {
      closeStep();
      step += 1;
    },
    endStep(used, reason) {
      count(used);
      finishReason = reason;
    },
    outOfSteps() {
      finishReason = 'max_steps';
    },
    endSteps() {
      closeStep();
      return decisions;
    },
  };

  function count({ prompt, completion, estimated }: TokensUsed): void {
    tokensUsed.prompt += prompt;
    tokensUsed.completion += completion;
    tokensUsed.total += prompt + completion;
    if (estimated) tokensUsed.estimated = true;
  }

  function closeStep(): void {
    if (step > 0 && !decisions.some((decision) => decision.step === step)) decisions.push(answeredStep(step));
  }
}
