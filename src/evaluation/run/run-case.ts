import type { Agent, AgentSession } from '../../agent/agent.ts';
import { AppError } from '../../domain/app-error.ts';
import { type ErrorResponse, toErrorResponse } from '../../domain/error-response.ts';
import type { EvaluationCase } from '../cases/evaluation-case.ts';
import { withoutResults } from '../report/assemble-report.ts';
import type { CaseRun } from '../report/report-data.ts';
import type { PriceOf } from './prices.ts';
import { type SeedDependencies, seedSession } from './seed-session.ts';
import { type Observed, toCaseRun } from './to-case-run.ts';

export interface CaseDependencies extends SeedDependencies {
  agent: Agent;
  priceOf: PriceOf;
  /** Has a model judge the answer against the whole passages. */
  judge?: Judge | undefined;
}

export type Judge = (
  item: EvaluationCase,
  run: CaseRun,
  passages: readonly string[],
  signal: AbortSignal,
) => Promise<CaseRun['judge']>;

/** Asks the question of a case once, after its history. Throws only when the signal is raised or a defect shows. */
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
    const run = toCaseRun(observed, withoutResults(item), repeat, dependencies.priceOf);
    if (dependencies.judge === undefined) return run;
    const passages = observed.contexts.flatMap(({ chunks }) => chunks.map(({ text }) => text));
    return { ...run, judge: await dependencies.judge(item, run, [...new Set(passages)], signal) };
  } finally {
    await sessions.delete(session.id);
  }
}

async function observe(
  session: AgentSession,
  { question, filter }: EvaluationCase,
  { runtime }: CaseDependencies,
  signal: AbortSignal,
): Promise<Observed> {
  const searches: { query: string; filter: Observed['searches'][number]['filter'] }[] = [];
  const contexts: Observed['contexts'][number][] = [];
  let turn: Observed['turn'] = null;
  let error: ErrorResponse | null = null;
  let firstTokenMs: number | null = null;
  const started = runtime.elapsedMs();
  try {
    for await (const event of session.ask(question, { signal, ...(filter && { filter }) })) {
      if (event.type === 'retrieval_started') searches.push({ query: event.query, filter: event.filter });
      if (event.type === 'retrieval_finished' && event.context !== null) contexts.push(event.context);
      if (event.type === 'text_delta') firstTokenMs ??= runtime.elapsedMs() - started;
      if (event.type === 'turn_completed') turn = event.turn;
      if (event.type === 'error') error = event.error;
    }
  } catch (fault) {
    signal.throwIfAborted();
    if (!(fault instanceof AppError)) throw fault;
    error = toErrorResponse(fault);
  }
  return { turn, error, searches, contexts, firstTokenMs, totalMs: runtime.elapsedMs() - started };
}
