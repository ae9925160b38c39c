import { Agent, type FunctionTool, type Model, Runner } from '@openai/agents-core';
import type { AgentConfig, Policy } from '../domain/agent-config.ts';
import type { TokensUsed } from '../domain/agent-response.ts';
import { AppError } from '../domain/app-error.ts';
import { contextPrompt } from '../domain/context-prompt.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import type { Filter } from '../domain/filter.ts';
import { trimToBudget } from '../domain/retrieval-context.ts';
import type { Phase, RunEvent } from '../domain/run-event.ts';
import { splitWindow } from '../domain/token-budget.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SourceRegister } from './citations/source-register.ts';
import { followRun } from './follow-run.ts';
import { inputItems } from './input-items.ts';
import { policies } from './policies/policies.ts';
import type { Searched, SessionRetrieval } from './session-retrieval.ts';
import { standaloneQuestion } from './standalone-question.ts';
import { createTools } from './tools/create-tools.ts';
import { type ReadSourceResponse, readSource } from './tools/read-source.ts';
import { createSearchExecutor } from './tools/search-tool.ts';
import { createTurnRecord, type TurnRecord } from './turn-record.ts';

export interface TurnDependencies {
  model: Model;
  config: AgentConfig;
  instructions: string;
  store: ChunkStore;
  retrieval: SessionRetrieval;
  sources: SourceRegister;
  runtime: Runtime;
  /** Whether the model may also read around a hit. */
  readSource: boolean;
  /** Whether the SDK traces the run, with whatever processors it was given. */
  tracing: boolean;
}

export interface TurnRequest {
  question: string;
  /** Messages of the past that fit into the window. */
  history: readonly ConversationMessage[];
  policy: Policy;
  filter: Filter;
  emit: (event: RunEvent) => void;
  signal?: AbortSignal | undefined;
}

export interface TurnOutcome {
  /** As the model wrote it, not yet checked. */
  answer: string;
  record: TurnRecord;
  tokensUsed: TokensUsed;
  /** Why the documents could not be searched, if every search of the turn failed. */
  searchFault: AppError | null;
}

/** A model that insists on calling tools it no longer has is stopped here. */
const GRACE_STEPS = 2;
const OUT_OF_STEPS = 'I could not come to an answer within the allowed number of steps.';

/** One question through the SDK's loop. Throws what the model or the loop throws. */
export async function runTurn(dependencies: TurnDependencies, request: TurnRequest): Promise<TurnOutcome> {
  const { model, config, sources, retrieval, runtime, tracing } = dependencies;
  const { question, emit, signal } = request;
  const policy = policies[request.policy];
  const budget = splitWindow(config.contextWindow);
  const record = createTurnRecord(runtime);
  const spent: TokensUsed = { prompt: 0, completion: 0, total: 0 };
  let searchFault: AppError | null = null;
  const setPhase = createPhase(emit);
  const history = inputItems(request.history);

  async function search(
    query: { text: string; topK: number; filter: Filter },
    id: string,
  ): Promise<Searched> {
    setPhase('retrieving');
    const started = runtime.elapsedMs();
    try {
      return await retrieval.search(query, id, emit, signal);
    } catch (error) {
      record.searchFailed(query.text, query.filter);
      if (error instanceof AppError) searchFault = error;
      throw error;
    } finally {
      record.toolUsed(runtime.elapsedMs() - started);
    }
  }

  record.question(question);
  const prompt = await policy.prompt(question, {
    async standalone(text) {
      const { query, inputTokens, outputTokens } = await standaloneQuestion(model, history, text, signal);
      addTokens(spent, inputTokens, outputTokens);
      return query;
    },
    async search(text) {
      record.beginStep();
      const found = await search({ text, topK: config.topK, filter: request.filter }, runtime.newId());
      const context = trimToBudget(found.context, budget.retrieved);
      record.retrieved(context);
      return context;
    },
    withContext: (context, text) => contextPrompt(context, text, sources.register),
  });

  setPhase('generating');
  const runner = new Runner({ tracingDisabled: !tracing, toolNotFoundBehavior: 'return_error_to_model' });
  const stream = await runner.run(createSdkAgent(), [...history, { role: 'user', content: prompt }], {
    stream: true,
    maxTurns: config.maxSteps + GRACE_STEPS,
    errorHandlers: { maxTurns: () => ({ finalOutput: OUT_OF_STEPS, includeInHistory: false }) },
    ...(signal && { signal }),
  });
  await followRun(stream, record, emit, () => setPhase('generating'));
  signal?.throwIfAborted();
  await stream.completed;

  const { usage } = stream.state;
  addTokens(spent, usage.inputTokens, usage.outputTokens);
  const answer = typeof stream.finalOutput === 'string' ? stream.finalOutput.trim() : '';
  if (answer === '') {
    throw new AppError('api_error', `The model ${config.model} gave an empty answer.`, {
      hint: 'Ask again, or choose another model with --model.',
      recoverable: true,
    });
  }
  return {
    answer,
    record,
    tokensUsed: spent,
    searchFault: record.retrievals.length > 0 ? null : searchFault,
  };

  function createSdkAgent(): Agent {
    const toolChoice = policy.tool === 'forced' ? config.toolName : undefined;
    return new Agent({
      name: 'citeloop',
      instructions: dependencies.instructions,
      model: countingSteps(model, record.beginStep),
      modelSettings: {
        temperature: config.temperature,
        maxTokens: config.maxTokens,
        ...(toolChoice !== undefined && { toolChoice }),
      },
      tools: policy.tool === 'withheld' ? [] : toolsOfTurn(),
    });
  }

  /** The last of `maxSteps` has no tools, so that the model must answer. */
  function mayGoOn(): boolean {
    return record.step + 1 < config.maxSteps;
  }

  /** Counts like a search: both bring passages from the collection. */
  async function readAround(args: unknown): Promise<ReadSourceResponse> {
    const started = runtime.elapsedMs();
    try {
      return await readSource(args, dependencies.store, sources);
    } finally {
      record.toolUsed(runtime.elapsedMs() - started);
    }
  }

  function toolsOfTurn(): FunctionTool[] {
    const { toolName, topK } = config;
    const executor = createSearchExecutor({
      toolName,
      topK,
      filter: request.filter,
      tokenBudget: budget.retrieved,
      search,
      refOf: sources.register,
      onRetrieved: record.retrieved,
      mayGoOn,
      elapsedMs: runtime.elapsedMs,
    });
    return createTools({
      toolName,
      search: executor,
      readSource: dependencies.readSource ? readAround : undefined,
      isEnabled: mayGoOn,
      newId: runtime.newId,
      signal,
    });
  }
}

function countingSteps(model: Model, onStep: () => void): Model {
  return {
    getResponse(request) {
      onStep();
      return model.getResponse(request);
    },
    getStreamedResponse(request) {
      onStep();
      return model.getStreamedResponse(request);
    },
  };
}

/** Emits a change of phase, and nothing where it stays the same. */
function createPhase(emit: (event: RunEvent) => void): (to: Phase) => void {
  let phase: Phase = 'idle';
  return (to) => {
    if (to === phase) return;
    emit({ type: 'phase', from: phase, to });
    phase = to;
  };
}

function addTokens(spent: TokensUsed, prompt: number, completion: number): void {
  spent.prompt += prompt;
  spent.completion += completion;
  spent.total += prompt + completion;
}
