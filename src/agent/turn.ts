import type { AgentInputItem, Model, Tool } from '@openai/agents-core';
import { streamWorkEvents } from '../async/event-queue.ts';
import type { CheckedAnswer } from '../citations/check-answer.ts';
import { createSourceRegister, type SourceRegister } from '../citations/source-register.ts';
import type { AgentConfig, RetrievalPolicy } from '../domain/agent-config.ts';
import {
  type AgentResponse,
  classifyOutcome,
  type FinishReason,
  isGrounded,
  toConfidence,
} from '../domain/agent-response.ts';
import type { Citation } from '../domain/citation.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import {
  appendMessages,
  assertSessionOpen,
  type ConversationSession,
  completeSession,
  isOverSoftLimit,
  resetSession,
  SOFT_MESSAGE_LIMIT,
  sessionTotals,
} from '../domain/conversation-session.ts';
import { type ConversationTurn, secondsBetween, withCitedChunks } from '../domain/conversation-turn.ts';
import { formatContextPrompt } from '../domain/prompts.ts';
import { createQuery, type Filter } from '../domain/query.ts';
import { advice, settingName, slashCommand, withSetting } from '../faults/advice.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import { formatRetryNotice } from '../faults/retry.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import { formatCount } from '../text/format-count.ts';
import { oneLine } from '../text/visible-text.ts';
import type { AgentSession, AskOptions } from './agent.ts';
import { withAttachedText } from './attached-text.ts';
import { markMissingFiles } from './citation-changes.ts';
import { type ContextWindow, PassageBudget, planContext } from './context-budget.ts';
import {
  createReadSourceTool,
  createSearchTool,
  type ToolContext,
  type TurnSearch,
} from './document-tools.ts';
import { type ModelErrorContext, toAppError } from './guards/model-errors.ts';
import { withAnswerCheck } from './guards/with-answer-check.ts';
import { withIdleTimeout } from './guards/with-idle-timeout.ts';
import { withOverflowTrim } from './guards/with-overflow-trim.ts';
import { withRetries } from './guards/with-retries.ts';
import { type AgentBriefing, rewriteAsQuery, toInputItems } from './model-input.ts';
import { runModelLoop } from './run-model-loop.ts';
import { createTurnJudge, type FindJudge, type TurnJudge } from './turn-judge.ts';
import { TurnEvents, TurnRecord } from './turn-record.ts';

const IDLE_TIMEOUT_MS = 60_000;
/** Longer questions are probably piped in by mistake. */
const MAX_QUESTION_CHARACTERS = 8000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What all turns of an agent use. */
export interface TurnSetup {
  config: AgentConfig;
  model: Model;
  store: ChunkStore;
  retriever: Retriever;
  runtime: Runtime;
  /** Null where there is no judge; answers are then checked by their words alone. */
  findJudge: FindJudge;
  briefing(): Promise<AgentBriefing>;
  window: ContextWindow;
  /** Whether the model may read around a search result. */
  readSource: boolean;
  /** Whether the SDK traces the run with its own processors. */
  tracing: boolean;
  errorContext?: ModelErrorContext | undefined;
}

interface SessionStart {
  session: ConversationSession;
  lastTurn: ConversationTurn | null;
  /** The sources retrieved so far. */
  sources: SourceRegister;
  /** Emitted before the first answer. */
  notices: readonly string[];
  /** The owner, if the store does not have the session yet: it is stored with its first turn. */
  user?: string | null;
}

/** A session that continues from `start`. A turn is committed to the store before `turn_completed` is emitted. */
export function createAgentSession(
  start: SessionStart,
  setup: TurnSetup,
  sessions: SessionStore,
): AgentSession {
  const { config, runtime } = setup;
  const noticed = new Set<string>();
  let { session, lastTurn, notices, sources } = start;
  let unsaved = start.user === undefined ? undefined : { session, user: start.user };

  async function ask(given: string, options: AskOptions, events: TurnEvents): Promise<void> {
    const question = validateQuestion(given);
    assertTurnsLeft(session, config);
    const lastRef = sources.lastRef();
    try {
      for (const message of notices) events.emit({ type: 'notice', message });
      notices = [];
      if (isOverSoftLimit(session)) {
        const message = `This session has more than ${SOFT_MESSAGE_LIMIT} messages. Reset it to start over.`;
        events.noticeOnce('length', message);
      }
      const { turn, messages } = await answerQuestion(
        setup,
        {
          question,
          history: session.messages,
          policy: options.policy ?? session.policy,
          filter: options.filter ?? {},
          attached: options.attached,
          signal: options.signal,
          sources,
          sessionId: session.sessionId,
          turnNumber: sessionTotals(session).turnCount + 1,
        },
        events,
      );
      const { retrievalCount, tokensUsed } = turn.response;
      const usage = { retrievals: retrievalCount, tokens: tokensUsed.total };
      const after = { ...appendMessages(session, messages, usage), model: config.model };
      await sessions.commitTurn(after, messages, turn, unsaved);
      unsaved = undefined;
      session = after;
      lastTurn = turn;
      events.complete(turn);
    } catch (error) {
      // Refs of a turn that is not stored are given to the next sources, as they are after a resume.
      sources = createSourceRegister(sources.entries().filter(({ ref }) => Number(ref) <= lastRef));
      events.fail(error);
    }
  }

  return {
    id: session.sessionId,
    snapshot: () => structuredClone(session),
    lastTurn: () => lastTurn,
    ask: (question, options = {}) =>
      streamWorkEvents((emit) => ask(question, options, new TurnEvents(emit, noticed))),
    async reset() {
      session = resetSession(session, runtime.now().toISOString());
      lastTurn = null;
      noticed.clear();
      if (unsaved === undefined) await sessions.update(session);
    },
    async complete() {
      session = completeSession(session);
      if (unsaved === undefined) await sessions.update(session);
    },
  };
}

/** The question without surrounding white space. Throws `invalid_input` if it is blank or too long. */
export function validateQuestion(given: string): string {
  const question = given.trim();
  if (question === '')
    throw new AppError('invalid_input', 'The question is blank.', { hint: 'Ask something.' });
  if (given.length <= MAX_QUESTION_CHARACTERS) return question;
  throw new AppError(
    'invalid_input',
    `The question has ${given.length} characters; ${MAX_QUESTION_CHARACTERS} are allowed.`,
    { hint: 'Ask something shorter, and ingest long texts as documents.' },
  );
}

function assertTurnsLeft(session: ConversationSession, { maxTurns }: AgentConfig): void {
  assertSessionOpen(session);
  if (session.turnCount < maxTurns) return;
  throw new AppError('invalid_input', `This session has reached its limit of ${maxTurns} turns.`, {
    hint: advice`Reset it${slashCommand('reset')}, start another one, or raise ${settingName('maxTurns')}.`,
  });
}

/** A question and the conversation around it. */
interface TurnRequest {
  question: string;
  /** Oldest first. */
  history: readonly ConversationMessage[];
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

/** Answers a question and checks the answer. Stores nothing. Throws AppErrors only. */
export async function answerQuestion(
  setup: TurnSetup,
  request: TurnRequest,
  events: TurnEvents,
): Promise<FinishedTurn> {
  const { config, runtime, store } = setup;
  const { question, filter, attached, sources } = request;
  const started = { elapsedMs: runtime.elapsedMs(), timestamp: runtime.now().toISOString() };
  const { signal, stopTimer } = startTimeLimit(config.maxTurnSeconds, request.signal);
  try {
    // 1. Plan: instructions, and what of the history and the passages fits the window.
    const { instructions, modules } = await setup.briefing();
    const planned = { instructions, question, history: request.history };
    const { history, passageTokens } = planContext(config, setup.window, planned, events);
    const record = new TurnRecord(runtime);
    const passages = new PassageBudget(passageTokens, events);
    const judge = createTurnJudge(setup.findJudge, signal);
    const model = guardModel(setup, events, signal);
    const { retriever } = setup;
    const shared = { record, events, judge, runtime, signal };
    const search = createTurnSearch({ ...shared, question, retriever });
    const historyItems = toInputItems(history);
    const mode = RETRIEVAL_MODES[request.policy];
    record.addQuestion(question);

    // 2. Retrieve before the model is called, if the policy or an attached text demands it.
    let prompt = question;
    let query = question;
    if (mode.searchFirst || attached !== undefined) {
      const rewritten = await rewriteAsQuery(model, historyItems, question, signal);
      query = rewritten.query;
      record.countTokens(rewritten.tokens);
      record.beginStep();
      const found = await search({ text: query, topK: config.topK, filter }, runtime.newId());
      const context =
        attached === undefined ? found : withAttachedText(found, attached, question, passageTokens);
      for (const message of context.notes.slice(found.notes.length)) events.emit({ type: 'notice', message });
      if (attached !== undefined) judge.readAhead(context.chunks, [question, query]);
      const shown = passages.show(context);
      record.addRetrieval(shown.context);
      prompt = formatContextPrompt(shown, question, sources.register);
    }

    // 3. Generate, with the tools that the policy allows.
    const toolContext = { config, record, passages, sources, runtime, signal };
    const tools: Tool[] = [];
    if (mode.tool !== 'withheld') {
      tools.push(createSearchTool(toolContext, { search, modules, filter }));
      if (setup.readSource) tools.push(createReadSourceTool(toolContext, store));
    }
    const input: AgentInputItem[] = [...historyItems, { role: 'user', content: prompt }];
    const written = await runModelLoop({
      ...{ config, model, instructions, input, tools, record, events, signal },
      tracing: setup.tracing,
      forcedTool: mode.tool === 'forced' ? config.toolName : undefined,
      onText: (text) => judge.judgeAlong(text, sources),
    });

    // 4. Check the citations, and how likely the answer answers.
    const checked = await judge.check(written, sources);
    if (checked.answer.trim() === '') throw onlyUnknownCitations(checked.citations);
    const { retrievals, finishReason } = record;
    const outcome =
      finishReason === 'max_steps' ? 'none' : classifyOutcome(checked.answer, config.abstentionPhrases);
    const isFollowUp = history.some(({ role }) => role === 'user');
    const asked = (isFollowUp && retrievals[0]?.query) || question;
    const answerProbability =
      outcome === 'answer' ? await judge.chanceOfAnswering(asked, checked.sentences) : null;
    const retrieved = retrievals.flatMap(({ chunks }) => chunks);
    const citations = markMissingFiles(checked.citations, retrieved);
    events.emit({ type: 'citations', citations });

    // 5. Record.
    return finishTurn(setup, request, record, { ...checked, citations, outcome, answerProbability }, started);
  } catch (error) {
    throw toAppError(error, { ...setup.errorContext, signal });
  } finally {
    stopTimer();
  }
}

interface TurnSearchOptions extends Pick<ToolContext, 'record' | 'runtime' | 'signal'> {
  question: string;
  retriever: Retriever;
  events: TurnEvents;
  judge: TurnJudge;
}

function createTurnSearch(options: TurnSearchOptions): TurnSearch {
  const { retriever, record, events, judge, runtime, signal } = options;
  return async (given, retrievalId) => {
    const query = createQuery(given);
    const { text, topK, filter } = query;
    events.enterPhase('retrieving');
    events.emit({ type: 'retrieval_started', retrievalId, query: text, topK, filter });
    const started = runtime.elapsedMs();
    try {
      const { context } = await retriever.retrieve(query, signal);
      judge.readAhead(context.chunks, [options.question, text]);
      events.emit({ type: 'retrieval_finished', retrievalId, context, error: null });
      return context;
    } catch (error) {
      signal.throwIfAborted();
      const failure =
        error instanceof AppError
          ? error
          : new AppError('retrieval_error', messageOf(error), { cause: error });
      record.addFailedSearch(query, failure);
      const response = toErrorResponse(failure);
      events.emit({ type: 'retrieval_finished', retrievalId, context: null, error: response });
      throw failure;
    } finally {
      record.countToolUse(runtime.elapsedMs() - started);
    }
  };
}

/** Outcome, grounding and confidence are computed, never taken from the model. */
function finishTurn(
  { config, runtime }: TurnSetup,
  { question, sessionId, turnNumber }: TurnRequest,
  record: TurnRecord,
  checked: CheckedAnswer & Pick<AgentResponse, 'outcome' | 'answerProbability'>,
  started: { elapsedMs: number; timestamp: string },
): FinishedTurn {
  const { retrievals, retrievalCount, retrievalTimeMs, tokensUsed, finishReason } = record;
  const { timestamp } = started;
  const { answer, citations, outcome, answerProbability } = checked;
  const error = cutAnswerError(finishReason, config) ?? record.searchError;
  const hasFound = retrievals.some(({ chunks, nearMiss }) => chunks.length > 0 || (nearMiss?.score ?? 0) > 0);
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
    retrievedSources: [...new Set(retrievals.flatMap(({ chunks }) => chunks.map(({ url }) => url)))],
    grounded: finishReason === 'stop' && isGrounded(outcome, citations),
    confidence: toConfidence(hasFound, answerProbability),
    finishReason,
    retrievalTimeMs,
    generationTimeMs: Math.max(0, totalTimeMs - retrievalTimeMs),
    totalTimeMs,
    error: error && toErrorResponse(error),
    timestamp,
  };
  const turn = {
    turnId: runtime.newId(),
    userQuery: question,
    retrievals,
    response,
    timestamp,
    durationSeconds: secondsBetween(started.elapsedMs, ended),
    decisions: withCitedChunks(record.finishSteps(), citations),
  };
  record.addAnswer(answer, citations);
  return { turn, messages: record.messages };
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
  const timer = setTimeout(expire, Math.min(seconds * 1000, MAX_TIMER_MS));
  return {
    signal: given === undefined ? controller.signal : AbortSignal.any([given, controller.signal]),
    stopTimer: () => clearTimeout(timer),
  };
}

/** The model with a check of its responses, an idle timeout, retries, and shorter requests after an overflow. */
function guardModel(
  { config, model, window, runtime, errorContext }: TurnSetup,
  events: TurnEvents,
  signal: AbortSignal,
): Model {
  const checked = withAnswerCheck(model, config.maxAnswerCharacters);
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
  return withOverflowTrim(retried, (reported) => {
    window.tokens = Math.min(window.tokens, reported ?? window.tokens);
    const size = reported === undefined ? `smaller than ${window.tokens}` : String(reported);
    events.noticeOnce(
      'overflow',
      `The model's window is ${size} tokens: the oldest messages and the weakest passages were left out. ` +
        'Set contextWindow to the size of the window.',
    );
  });
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
