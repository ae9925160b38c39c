import { randomUUID } from 'node:crypto';
import type { Agent } from '../../agent/agent.ts';
import { throwNoAnswer, waitForTurn } from '../../agent/wait-for-turn.ts';
import type { AgentConfig } from '../../domain/agent-config.ts';
import { MAX_EXCERPT_LENGTH } from '../../domain/citation.ts';
import type { ConversationMessage } from '../../domain/conversation-message.ts';
import { appendMessages, createSession } from '../../domain/conversation-session.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import { decodeUrl } from '../../domain/format-location.ts';
import type { RetrievalContext } from '../../domain/retrieval-context.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { AppError } from '../../faults/app-error.ts';
import { type ErrorResponse, toErrorResponse } from '../../faults/error-response.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { EvaluationCase, HistoryMessage } from '../cases/evaluation-case.ts';
import { matchesSource } from '../cases/expected-source.ts';
import type { CaseGold } from '../metrics/metric.ts';
import { isExpectedSource } from '../metrics/retrieval-metrics.ts';
import { toPlainCase } from '../report/assemble-report.ts';
import type { CaseRun, ReportChunk } from '../report/case-run.ts';
import type { RunCaseChecks } from './custom-checks.ts';
import { type GradeModel, gradeWithModel, isGradedByModel } from './grade-model.ts';
import { type CalculatePrice, unknownPrice } from './model-prices.ts';

export interface CaseDependencies {
  agent: Agent;
  config: Pick<AgentConfig, 'model' | 'policy' | 'systemPrompt'>;
  collection: string;
  sessions: SessionStore;
  runtime: Runtime;
  priceOf: CalculatePrice;
  grader?: GradeModel | undefined;
  check?: RunCaseChecks | undefined;
}

/** Asks the question of a case once, after its history. Throws only if the signal is aborted, or for an internal error. */
export async function runCase(
  item: EvaluationCase,
  repeat: number,
  dependencies: CaseDependencies,
  signal: AbortSignal,
): Promise<CaseRun> {
  const { agent, sessions, priceOf } = dependencies;
  const session =
    item.history === undefined || item.history.length === 0
      ? await agent.startSession()
      : await agent.resumeSession(await storeHistory(item.history, dependencies));
  try {
    const { runtime } = dependencies;
    const ask = (onEvent: (event: RunEvent) => void) =>
      waitForTurn(
        session.ask(item.question, { signal, ...(item.filter && { filter: item.filter }) }),
        onEvent,
      );
    const observed = await observeTurn(ask, runtime.elapsedMs, signal);
    const run = toCaseRun(observed, toPlainCase(item), { repeat, priceOf });
    return await gradeRun(item, run, dependencies, signal);
  } finally {
    await sessions.delete(session.id);
  }
}

/** The run with its custom checks and its grade, unless it failed. */
export async function gradeRun(
  item: EvaluationCase,
  run: CaseRun,
  { grader, check }: Pick<CaseDependencies, 'grader' | 'check'>,
  signal: AbortSignal,
): Promise<CaseRun> {
  if (run.error !== null) return run;
  const checks = (await check?.(item, run.answer, signal)) ?? [];
  const isGraded = grader !== undefined && !run.abstained && isGradedByModel(item);
  return { ...run, checks, grade: isGraded ? await gradeWithModel(item, run.answer, grader, signal) : null };
}

/** Stores a conversation as a session that can be resumed, and returns its id. */
async function storeHistory(
  history: readonly HistoryMessage[],
  { config, collection, sessions, runtime }: CaseDependencies,
): Promise<string> {
  const timestamp = runtime.now().toISOString();
  const toMessage = (content: string) => createMessage(content, runtime.newId(), timestamp);
  const session = createSession({
    sessionId: runtime.newId(),
    createdAt: timestamp,
    model: config.model,
    policy: config.policy,
    collection,
    systemMessage: { ...toMessage(config.systemPrompt), role: 'system' },
  });
  const messages = toMessages(history, toMessage);
  await sessions.create(appendMessages(session, messages, { retrievals: 0 }), null);
  return session.sessionId;
}

function createMessage(content: string, id: string, timestamp: string) {
  return { id, content, citations: [], tokenCount: estimateTokens(content), timestamp, metadata: {} };
}

function toMessages(
  history: readonly HistoryMessage[],
  toMessage: (content: string) => ReturnType<typeof createMessage>,
): ConversationMessage[] {
  return history.map(({ role, content }) =>
    role === 'user' ? { ...toMessage(content), role } : { ...toMessage(content), role, toolCalls: [] },
  );
}

/** Asks an agent the question of a case, after its history. Throws as `runCase`. */
export async function runAgentCase(
  agent: Pick<Agent, 'answer'>,
  item: EvaluationCase,
  { repeat, signal, elapsedMs }: { repeat: number; signal: AbortSignal; elapsedMs: () => number },
): Promise<CaseRun> {
  const { question, filter, history = [] } = item;
  const timestamp = new Date().toISOString();
  const messages = toMessages(history, (content) => createMessage(content, randomUUID(), timestamp));
  const ask = async (onEvent: (event: RunEvent) => void) => {
    let completed: ConversationTurn | undefined;
    const emit = (event: RunEvent) => {
      onEvent(event);
      if (event.type === 'turn_completed') completed = event.turn;
    };
    await agent.answer({ question, history: messages }, emit, { signal, ...(filter && { filter }) });
    return completed ?? throwNoAnswer();
  };
  const observed = await observeTurn(ask, elapsedMs, signal);
  return toCaseRun(observed, toPlainCase(item), { repeat, priceOf: unknownPrice });
}

/** What happened in a turn, which is null if it failed. */
async function observeTurn(
  ask: (onEvent: (event: RunEvent) => void) => Promise<ConversationTurn>,
  elapsedMs: () => number,
  signal: AbortSignal,
) {
  const searches: Pick<RetrievalContext, 'query' | 'filter'>[] = [];
  /** Results as retrieved, before the prompt budget cuts them. */
  const contexts: RetrievalContext[] = [];
  let error = null as ErrorResponse | null;
  let firstTokenMs = null as number | null;
  const started = elapsedMs();
  const onEvent = (event: RunEvent) => {
    if (event.type === 'retrieval_started') searches.push({ query: event.query, filter: event.filter });
    if (event.type === 'retrieval_finished' && event.context !== null) contexts.push(event.context);
    if (event.type === 'text_delta') firstTokenMs ??= elapsedMs() - started;
  };
  const turn = await ask(onEvent).catch((cause: unknown) => {
    signal.throwIfAborted();
    if (!(cause instanceof AppError)) throw cause;
    error = toErrorResponse(cause);
    return null;
  });
  return { turn, error, searches, contexts, firstTokenMs, totalMs: elapsedMs() - started };
}

function toCaseRun(
  { turn, error: thrown, searches, contexts, firstTokenMs, totalMs }: Awaited<ReturnType<typeof observeTurn>>,
  gold: CaseGold,
  { repeat, priceOf }: { repeat: number; priceOf: CalculatePrice },
): CaseRun {
  const response = turn?.response;
  // A turn can complete although all of its searches failed.
  const error = thrown ?? response?.error ?? null;
  const retrieved = new Map(contexts.flatMap(({ chunks }) => chunks.map((chunk) => [chunk.chunkId, chunk])));
  const tokens = response?.tokensUsed ?? { prompt: 0, completion: 0, total: 0 };
  const searchKeys = searches.map(({ query, filter }) =>
    JSON.stringify([query.toLowerCase().replace(/\s+/g, ' ').trim(), filter]),
  );
  return {
    repeat,
    answer: response?.answer ?? '',
    abstained: response !== undefined && response.outcome !== 'answer',
    grounded: response?.grounded ?? false,
    checked: true,
    confidence: response?.confidence ?? null,
    citations: (response?.citations ?? []).map(
      ({ marker, verdict, chunkId, title, url: cited, score, excerpt }) => {
        const url = toReportUrl(retrieved.get(chunkId ?? '') ?? { url: cited }, gold);
        const expected = isExpectedSource({ url, chunkId }, gold);
        return { marker, verdict, chunkId, title, url, score, excerpt, expected };
      },
    ),
    sentences: (response?.sentences ?? []).map(({ text, refs, verdict, reason }) => ({
      text,
      markers: refs,
      verdict,
      reason: reason?.text ?? null,
    })),
    retrievals: (turn?.retrievals ?? contexts).map((context) => ({
      query: context.query,
      filter: context.filter,
      scoreThreshold: context.scoreThreshold,
      totalFound: context.totalFound,
      chunks: context.chunks.map((chunk) => toReportChunk(chunk, gold)),
      nearMiss: context.nearMiss === null ? null : toReportChunk(context.nearMiss, gold),
      timeMs: context.queryTimeMs,
    })),
    searches: searches.length,
    duplicateSearches: searches.length - new Set(searchKeys).size,
    steps: Math.max(0, ...(turn?.decisions ?? []).map(({ step }) => step)),
    tokens,
    cost: error === null ? priceOf(response?.model ?? '', tokens) : null,
    timesMs: {
      firstToken: firstTokenMs,
      retrieval: response?.retrievalTimeMs ?? 0,
      generation: response?.generationTimeMs ?? 0,
      total: response?.totalTimeMs ?? totalMs,
    },
    grade: null,
    checks: [],
    error,
  };
}

function toReportChunk(chunk: RetrievedChunk, gold: CaseGold): ReportChunk {
  const { chunkId, title, headings, score, text } = chunk;
  const url = toReportUrl(chunk, gold);
  const expected = isExpectedSource({ url, chunkId }, gold);
  return { chunkId, title, url, headings, score, excerpt: oneLine(text, MAX_EXCERPT_LENGTH), expected };
}

/** The URL of a chunk, or the longer path that the case gives for the same file. */
function toReportUrl({ url, uri }: Pick<RetrievedChunk, 'url' | 'uri'>, { expected }: CaseGold): string {
  if (uri === undefined || /^https?:/i.test(url)) return url;
  const names = expected.sources.filter((source) => matchesSource(source, uri));
  return names.find((name) => matchesSource(decodeUrl(url), name)) ?? url;
}
