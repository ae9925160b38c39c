import type { Agent, AgentSession } from '../../agent/agent.ts';
import { completeTurn } from '../../agent/complete-turn.ts';
import type { AgentConfig } from '../../domain/agent-config.ts';
import type { ConversationMessage } from '../../domain/conversation-message.ts';
import { appendMessages, createSession } from '../../domain/conversation-session.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { AppError } from '../../faults/app-error.ts';
import { type ErrorResponse, toErrorResponse } from '../../faults/error-response.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import type { EvaluationCase, HistoryMessage } from '../cases/evaluation-case.ts';
import { withoutResults } from '../report/assemble-report.ts';
import type { CaseRun } from '../report/case-run.ts';
import type { CheckAnswer } from './checks.ts';
import { type JudgeModel, judgeFaithfulness } from './judge.ts';
import type { PriceOf } from './prices.ts';
import { type Observation, toCaseRun } from './to-case-run.ts';

interface CaseDependencies extends SeedDependencies {
  agent: Agent;
  priceOf: PriceOf;
  judge?: JudgeModel | undefined;
  check?: CheckAnswer | undefined;
}

/** Asks the question of a case once, after its history. Throws only if the signal is aborted, or for an internal error. */
export async function runCase(
  item: EvaluationCase,
  repeat: number,
  dependencies: CaseDependencies,
  signal: AbortSignal,
): Promise<CaseRun> {
  const { agent, sessions } = dependencies;
  const session =
    item.history === undefined || item.history.length === 0
      ? await agent.startSession()
      : await agent.resumeSession(await seedSession(item.history, dependencies));
  try {
    const observed = await observe(session, item, dependencies, signal);
    const { priceOf } = dependencies;
    const run = toCaseRun(observed, withoutResults(item), repeat, { priceOf });
    const checks = run.error === null ? await dependencies.check?.(item, run.answer, signal) : undefined;
    const checked = { ...run, checks: checks ?? [] };
    if (dependencies.judge === undefined) return checked;
    const passages = new Set(observed.contexts.flatMap(({ chunks }) => chunks.map(({ text }) => text)));
    const judge = await judgeFaithfulness(item.question, run, [...passages], dependencies.judge, signal);
    return { ...checked, judge };
  } finally {
    await sessions.delete(session.id);
  }
}

async function observe(
  session: AgentSession,
  { question, filter }: EvaluationCase,
  { runtime }: CaseDependencies,
  signal: AbortSignal,
): Promise<Observation> {
  const searches: { query: string; filter: Observation['searches'][number]['filter'] }[] = [];
  const contexts: Observation['contexts'][number][] = [];
  let error: ErrorResponse | null = null;
  let firstTokenMs: number | null = null;
  const started = runtime.elapsedMs();
  const watch = (event: RunEvent) => {
    if (event.type === 'retrieval_started') searches.push({ query: event.query, filter: event.filter });
    if (event.type === 'retrieval_finished' && event.context !== null) contexts.push(event.context);
    if (event.type === 'text_delta') firstTokenMs ??= runtime.elapsedMs() - started;
  };
  const events = session.ask(question, { signal, ...(filter && { filter }) });
  const turn = await completeTurn(events, watch).catch((fault: unknown) => {
    signal.throwIfAborted();
    if (!(fault instanceof AppError)) throw fault;
    error = toErrorResponse(fault);
    return null;
  });
  return { turn, error, searches, contexts, firstTokenMs, totalMs: runtime.elapsedMs() - started };
}

interface SeedDependencies {
  config: Pick<AgentConfig, 'model' | 'policy' | 'systemPrompt'>;
  collection: string;
  sessions: SessionStore;
  runtime: Runtime;
}

/** Puts a conversation into the store as if it had been had, and returns the id to resume it by. */
async function seedSession(
  history: readonly HistoryMessage[],
  { config, collection, sessions, runtime }: SeedDependencies,
): Promise<string> {
  const timestamp = runtime.now().toISOString();
  const common = (content: string) => ({
    id: runtime.newId(),
    content,
    citations: [],
    tokenCount: estimateTokens(content),
    timestamp,
    metadata: {},
  });
  const session = createSession({
    sessionId: runtime.newId(),
    createdAt: timestamp,
    model: config.model,
    policy: config.policy,
    collection,
    systemMessage: { ...common(config.systemPrompt), role: 'system' },
  });
  const messages = history.map(
    ({ role, content }): ConversationMessage =>
      role === 'user' ? { ...common(content), role } : { ...common(content), role, toolCalls: [] },
  );
  await sessions.create(appendMessages(session, messages, { retrievals: 0 }), null);
  return session.sessionId;
}
