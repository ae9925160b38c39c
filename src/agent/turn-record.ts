import type { ConversationMessage, ToolCall } from '../domain/conversation-message.ts';
import { answeredStep, type Decision, searchedStep } from '../domain/conversation-turn.ts';
import { estimateTokens } from '../domain/estimate-tokens.ts';
import type { Filter } from '../domain/filter.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import type { Runtime } from '../ports/runtime.ts';

/** What a turn leaves behind while it runs: its messages, its searches and the ledger of its steps. */
export interface TurnRecord {
  readonly messages: ConversationMessage[];
  readonly retrievals: RetrievalContext[];
  /** How often a tool was executed, or a search made beforehand. */
  readonly retrievalCount: number;
  readonly retrievalTimeMs: number;
  /** The step that is under way, from 1. */
  readonly step: number;
  question(text: string): void;
  /** A search, or reading around a hit, whatever came of it. */
  toolUsed(elapsedMs: number): void;
  retrieved(context: RetrievalContext): void;
  /** A search that brought nothing because it failed. */
  searchFailed(query: string, filter: Filter): void;
  toolCalls(text: string | null, calls: readonly ToolCall[]): void;
  toolResult(call: ToolCall, content: string): void;
  /** A step is an answer of the model with the searches it asked for, or a search made beforehand. */
  beginStep(): void;
  /** The ledger, complete. */
  endSteps(): Decision[];
}

export function createTurnRecord(runtime: Runtime): TurnRecord {
  const messages: ConversationMessage[] = [];
  const retrievals: RetrievalContext[] = [];
  const decisions: Decision[] = [];
  let retrievalCount = 0;
  let retrievalTimeMs = 0;
  let step = 0;

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
    get retrievalCount() {
      return retrievalCount;
    },
    get retrievalTimeMs() {
      return retrievalTimeMs;
    },
    get step() {
      return step;
    },
    question(content) {
      messages.push({ ...common(content), role: 'user', content });
    },
    toolUsed(elapsedMs) {
      retrievalCount += 1;
      retrievalTimeMs += elapsedMs;
    },
    retrieved(context) {
      retrievals.push(context);
      decisions.push(searchedStep(step, context));
    },
    searchFailed(query, filter) {
      decisions.push({ step, searched: true, query, filter, chunks: [], cited: [] });
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
    beginStep() {
      closeStep();
      step += 1;
    },
    endSteps() {
      closeStep();
      return decisions;
    },
  };

  function closeStep(): void {
    if (step > 0 && !decisions.some((decision) => decision.step === step)) decisions.push(answeredStep(step));
  }
}
