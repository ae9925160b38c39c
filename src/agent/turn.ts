import type { AgentInputItem, Model, Tool } from '@openai/agents-core';
import type { ZodObject } from 'zod';
import { type CheckedAnswer, checkAnswer, prepareCheck } from '../citations/check-answer.ts';
import { MarkerNumbers, toSessionRefs } from '../citations/marker-numbers.ts';
import type { SourceRegister } from '../citations/source-register.ts';
import { type AgentConfig, type RetrievalPolicy, systemPromptFor } from '../domain/agent-config.ts';
import {
  type AgentResponse,
  classifyOutcome,
  type FinishReason,
  isGrounded,
  toConfidence,
} from '../domain/agent-response.ts';
import type { Citation } from '../domain/citation.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import { type ConversationTurn, secondsBetween, withCitedChunks } from '../domain/conversation-turn.ts';
import { formatContextPrompt } from '../domain/prompts.ts';
import { type Filter, isEmptyFilter } from '../domain/query.ts';
import { advice, settingName, withSetting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import type { ConversationStore } from '../ports/chunk-store.ts';
import type { CitationChecker } from '../ports/citation-checker.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import { formatCount } from '../text/format-count.ts';
import { oneLine } from '../text/visible-text.ts';
import { prependAttachedText } from './attached-text.ts';
import { markMissingFiles } from './citation-changes.ts';
import {
  type ContextWindow,
  divideContextWindow,
  PassageBudget,
  type ToolDefinition,
} from './context-budget.ts';
import { createReadSourceTool, createSearchTool, documentToolDefinitions } from './document-tools.ts';
import { guardModel } from './guards/guard-model.ts';
import { type ModelErrorContext, toAppError } from './guards/model-errors.ts';
import { type AgentBriefing, rewriteAsQuery, toInputItems } from './model-input.ts';
import { runModelLoop } from './run-model-loop.ts';
import { cleanTexts } from './structured-output.ts';
import { type TurnEvents, TurnRecord } from './turn-record.ts';
import { createTurnSearch } from './turn-search.ts';

/** Wraps what a turn calls, so that the calls are traced. */
export interface TurnTracer {
  model(model: Model): Model;
  tool(tool: Tool): Tool;
}

/** What all turns of an agent use. */
export interface TurnDependencies {
  config: AgentConfig;
  model: Model;
  store: ConversationStore;
  retriever: Retriever;
  runtime: Runtime;
  checker: CitationChecker;
  briefing(): Promise<AgentBriefing>;
  window: ContextWindow;
  /** Throws `invalid_input` for a filter that the collection cannot pass, such as an unknown module. */
  assertFilter?: ((filter: Filter) => Promise<void>) | undefined;
  /** Tools of the caller, which every policy offers. */
  tools?: readonly Tool[] | undefined;
  /** The answer is an object of this schema; its texts are checked. */
  output?: ZodObject | undefined;
  /** Whether the SDK traces the run with its own processors. */
  tracing: boolean;
  errorContext?: ModelErrorContext | undefined;
  tracer?: TurnTracer | undefined;
}

/** A question and the conversation around it. */
interface TurnRequest {
  question: string;
  /** Oldest first. */
  history: readonly ConversationMessage[];
  /** Those of the last answer, to which the question may refer by number. */
  lastCitations?: readonly Citation[] | undefined;
  policy: RetrievalPolicy;
  filter: Filter;
  /** A text to answer from beside the documents. */
  attached?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The sources that the conversation can cite. */
  sources: SourceRegister;
  sessionId: string;
  turnNumber: number;
}

interface FinishedTurn {
  turn: ConversationTurn;
  /** The messages that the turn adds to the conversation. */
  messages: ConversationMessage[];
}

/** How a policy retrieves: `searchFirst` puts passages before the question, `tool` is how the model gets the search tool. */
const RETRIEVAL_MODES: Readonly<
  Record<RetrievalPolicy, { searchFirst: boolean; tool: 'offered' | 'forced' | 'withheld' }>
> = {
  tool: { searchFirst: false, tool: 'offered' },
  always: { searchFirst: true, tool: 'withheld' },
  first: { searchFirst: false, tool: 'forced' },
  never: { searchFirst: false, tool: 'withheld' },
};

const CITATION_REQUEST: AgentInputItem = {
  role: 'user',
  content:
    'Your answer cites nothing. Write it again with the refs of the results that it rests on, such as [1]. ' +
    'Leave out what no result supports.',
};

function answerItem(text: string): AgentInputItem {
  return { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] };
}

/** Answers a question and checks the answer. Stores nothing. Throws AppErrors only. */
export async function answerQuestion(
  setup: TurnDependencies,
  request: TurnRequest,
  events: TurnEvents,
): Promise<FinishedTurn> {
  const { config, runtime, store } = setup;
  const { filter, attached, sources } = request;
  const question = toSessionRefs(request.question, request.lastCitations ?? [], sources);
  const started = { elapsedMs: runtime.elapsedMs(), timestamp: runtime.now().toISOString() };
  const { signal, stopTimer } = startTimeLimit(config.maxTurnSeconds, request.signal);
  try {
    if (!isEmptyFilter(filter)) await setup.assertFilter?.(filter);

    // 1. Plan: instructions, and what of the history and the passages fits the window.
    const mode = RETRIEVAL_MODES[request.policy];
    const { coverage, modules } = await setup.briefing();
    const retrievesFirst = mode.searchFirst || attached !== undefined;
    const policy = retrievesFirst && mode.tool === 'withheld' ? 'always' : request.policy;
    const instructions = [systemPromptFor(config, policy), policy === 'never' ? '' : coverage]
      .filter((text) => text !== '')
      .join('\n\n');
    const ownTools: readonly ToolDefinition[] = (setup.tools ?? []).filter(({ type }) => type === 'function');
    const documentTools =
      mode.tool === 'withheld' ? [] : documentToolDefinitions(config, filter.module ?? modules);
    const offered = [...documentTools, ...ownTools];
    const planned = { instructions, question, history: request.history, tools: offered };
    const { history, passageTokens } = divideContextWindow(config, setup.window, planned, events);
    const record = new TurnRecord(runtime);
    const passages = new PassageBudget(passageTokens, events, config);
    const { retriever, tracer } = setup;
    const guarded = guardModel(setup, events, signal);
    const model = tracer?.model(guarded) ?? guarded;
    const search = createTurnSearch({ config, store, record, events, runtime, signal, retriever });
    const historyItems = toInputItems(history);
    record.addQuestion(question);

    // 2. Retrieve before the model is called, if the policy or an attached text demands it.
    let prompt = question;
    let query = question;
    if (retrievesFirst) {
      if (config.rewrite || historyItems.length > 0) {
        const rewritten = await rewriteAsQuery(model, historyItems, question, { coverage, signal });
        query = rewritten.query;
        record.countTokens(rewritten.tokens);
      }
      record.beginStep();
      const found = await search({ text: query, topK: config.topK, filter }, runtime.newId());
      const context =
        attached === undefined ? found : prependAttachedText(found, attached, question, passageTokens);
      for (const message of context.notes.slice(found.notes.length)) events.emit({ type: 'notice', message });
      const shown = passages.show(context);
      record.addRetrieval(shown.context);
      prompt = formatContextPrompt(shown, question, sources.register);
    }

    // 3. Generate, with the tools that the policy allows.
    const toolContext = { config, record, passages, sources, runtime, signal };
    const tools: Tool[] = [];
    if (mode.tool !== 'withheld') {
      tools.push(createSearchTool(toolContext, { search, modules, filter }));
      if (config.readSource) tools.push(createReadSourceTool(toolContext, store));
    }
    tools.push(...(setup.tools ?? []));
    const input: AgentInputItem[] = [...historyItems, { role: 'user', content: prompt }];
    const numbers = new MarkerNumbers(sources);
    let prepared = 0;
    const loop = {
      ...{ config, model, instructions, record, events, numbers, signal },
      tracing: setup.tracing,
      onText: (text: string) => {
        prepared = prepareCheck(text, sources, setup.checker, prepared);
      },
      outputSchema: setup.output,
    };
    const forcedTool = mode.tool === 'forced' ? config.toolName : undefined;
    let written = await runModelLoop({
      ...loop,
      input,
      tools: tracer ? tools.map(tracer.tool) : tools,
      forcedTool,
    });

    // 4. Check the citations, and ask for them once if they are required.
    const check = () =>
      checkAnswer(written.text, sources, setup.checker, {
        question,
        signal,
        onTokens: (tokens) => record.countTokens(tokens),
        onNotice: (message) => events.emit({ type: 'notice', message }),
      });
    let verified = await check();
    const hasSources = record.retrievals.some(({ chunks }) => chunks.length > 0);
    const isUncited =
      verified.citations.length === 0 && classifyOutcome(written.text, config.abstentionPhrases) === 'answer';
    if (config.requireCitations && hasSources && isUncited && record.finishReason === 'stop') {
      events.emit({ type: 'text_discarded' });
      const asked = [...toInputItems(record.messages.slice(1)), answerItem(written.text), CITATION_REQUEST];
      const again = { input: [...input, ...asked], tools: [], forcedTool: undefined };
      written = await runModelLoop({ ...loop, ...again });
      verified = await check();
    }
    if (verified.answer.trim() === '') throw onlyUnknownCitations(verified.citations);
    const { retrievals, finishReason } = record;
    const retrieved = retrievals.flatMap(({ chunks }) => chunks);
    const citations = markMissingFiles(verified.citations, retrieved);
    const checked = numbers.apply({ ...verified, citations });
    const outcome =
      finishReason === 'max_steps' ? 'none' : classifyOutcome(checked.answer, config.abstentionPhrases);
    events.emit({ type: 'citations', citations: checked.citations });

    // 5. Record.
    const output =
      written.output === undefined ? {} : { output: cleanTexts(written.output, sources, numbers) };
    const turn = finishTurn(setup, request, record, { ...checked, ...output, outcome }, started);
    record.addAnswer(verified.answer, citations);
    return { turn, messages: record.messages };
  } catch (error) {
    throw toAppError(error, { ...setup.errorContext, signal });
  } finally {
    stopTimer();
  }
}

/** Outcome, grounding and confidence are computed, never taken from the model. */
function finishTurn(
  { config, runtime }: TurnDependencies,
  { question, sessionId, turnNumber }: TurnRequest,
  record: TurnRecord,
  checked: CheckedAnswer & Pick<AgentResponse, 'outcome' | 'output'>,
  started: { elapsedMs: number; timestamp: string },
): ConversationTurn {
  const { retrievals, retrievalCount, retrievalTimeMs, tokensUsed, finishReason } = record;
  const { citations, outcome } = checked;
  const error = cutAnswerError(finishReason, config) ?? record.searchError;
  const ended = runtime.elapsedMs();
  const totalTimeMs = ended - started.elapsedMs;
  const response: AgentResponse = {
    ...checked,
    query: question,
    sessionId,
    turnNumber,
    model: config.model,
    tokensUsed,
    retrievalPerformed: retrievalCount > 0,
    retrievalCount,
    chunkCount: new Set(retrievals.flatMap(({ chunks }) => chunks.map(({ chunkId }) => chunkId))).size,
    retrievedSources: [...new Set(retrievals.flatMap(({ chunks }) => chunks.map(({ url }) => url)))],
    grounded: finishReason === 'stop' && isGrounded(outcome, citations),
    confidence: toConfidence(retrievals),
    finishReason,
    retrievalTimeMs,
    generationTimeMs: Math.max(0, totalTimeMs - retrievalTimeMs),
    totalTimeMs,
    error: error && toErrorResponse(error),
    timestamp: runtime.now().toISOString(),
  };
  return {
    turnId: runtime.newId(),
    userQuery: question,
    retrievals,
    response,
    timestamp: started.timestamp,
    durationSeconds: secondsBetween(started.elapsedMs, ended),
    decisions: withCitedChunks(record.finishSteps(), citations),
  };
}

/** A signal that is also aborted when the turn takes too long, even if the service keeps sending. */
function startTimeLimit(seconds: number, given: AbortSignal | undefined) {
  const controller = new AbortController();
  const expire = () =>
    controller.abort(
      new AppError('api_error', `The turn was stopped: no answer after ${formatCount(seconds, 'second')}.`, {
        recoverable: true,
        hint: advice`Ask again, use a faster model, or raise ${settingName('maxTurnSeconds')}.`,
      }),
    );
  const timer = setTimeout(expire, Math.min(seconds * 1000, 2 ** 31 - 1));
  return {
    signal: given === undefined ? controller.signal : AbortSignal.any([given, controller.signal]),
    stopTimer: () => clearTimeout(timer),
  };
}

/** The model cited sources that were never retrieved, and said nothing else. */
function onlyUnknownCitations(citations: readonly Citation[]): AppError {
  const markers = citations.map(({ marker }) => `[${oneLine(marker, 20)}]`).join(' ');
  return new AppError('api_error', `The model answered only ${markers}, which was never retrieved.`, {
    hint: advice`Ask again, or choose another model${withSetting('model')}.`,
    recoverable: true,
  });
}

function cutAnswerError(reason: FinishReason, { maxTokens, maxSteps }: AgentConfig): AppError | null {
  switch (reason) {
    case 'stop':
      return null;
    case 'length':
      return new AppError('api_error', `The answer was cut at the limit of ${maxTokens} tokens.`, {
        hint: advice`Raise ${settingName('maxTokens')}, or ask a narrower question.`,
      });
    case 'content_filter':
      return new AppError('api_error', 'The content filter of the model service cut the answer.', {
        hint: 'Rephrase the question.',
      });
    case 'max_steps':
      return new AppError('api_error', `The model did not answer within ${maxSteps} steps.`, {
        hint: advice`Ask a narrower question, or raise ${settingName('maxSteps')}.`,
      });
  }
}
