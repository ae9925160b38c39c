import type { AgentSession } from '../../agent/agent.ts';
import type { Policy } from '../../domain/agent-config.ts';
import { AppError } from '../../domain/app-error.ts';
import type { RunOutputs, TurnOutput } from '../../tape/run-outputs.ts';
import { foundOf } from '../../tape/run-outputs.ts';
import type { TapeHeader, TapeJson } from '../../tape/tape-format.ts';
import type { App } from '../../wire.ts';
import type { TapeRun } from './tape-run.ts';

export interface Rerun {
  app: App;
  header: TapeHeader;
  recorded: RunOutputs;
  tape: TapeRun;
  signal: AbortSignal;
  /** A signal for the turn that begins: raised by a miss, which ends the turn but not the run. */
  turnSignal(): AbortSignal;
  /** Instead of the one that each turn had. */
  policy: Policy | undefined;
}

type Fields = { [name: string]: TapeJson };

/** Does again what a tape recorded; what it comes to is noted in the tape run. Throws AppErrors. */
export async function rerun(run: Rerun): Promise<void> {
  const { command } = run.header;
  if (command === 'ask' || command === 'chat') return rerunTurns(run);
  if (command === 'search') return rerunSearch(run);
  if (command === 'ingest') return rerunIngest(run);
  if (command === 'eval' || command === 'compare') return rerunEvaluation(run);
  throw new AppError(
    'invalid_input',
    command === null
      ? 'This tape was recorded by no command, so there is none to run again.'
      : `A tape of ${command} cannot be run again here.`,
    { hint: 'Use it with --replay, or in a test with useTape.' },
  );
}

async function rerunTurns({ app, header, recorded, tape, signal, turnSignal, policy }: Rerun): Promise<void> {
  const { openAgent } = await import('../open-agent.ts');
  const { filter: _, mode, tools } = fieldsOf(header.inputs.flags);
  const opened = await openAgent(app, signal, {
    tape,
    mode: mode as never,
    tools: tools as never,
  });
  try {
    const { resumed, turns } = recorded;
    const session =
      resumed === null
        ? await opened.agent.startSession()
        : await opened.agent.resumeSession(resumed.session.sessionId);
    for (const turn of turns) {
      signal.throwIfAborted();
      if (turn.reset) await session.reset();
      await askAgain(session, turn, policy, turnSignal());
    }
  } finally {
    await opened.close();
  }
}

async function askAgain(
  session: AgentSession,
  { question, policy: had, filter }: TurnOutput,
  policy: Policy | undefined,
  signal: AbortSignal,
): Promise<void> {
  const chosen = policy ?? (had as Policy | null);
  try {
    // The turn is noted by whoever observes the session.
    for await (const _ of session.ask(question, {
      ...(chosen !== null && { policy: chosen }),
      filter,
      signal,
    }));
  } catch (error) {
    // A miss has ended the turn; it is noted, too.
    if (!(error instanceof AppError) || !signal.aborted || error.kind !== 'replay_drift') throw error;
  }
}

async function rerunSearch({ app, header, tape, signal }: Rerun): Promise<void> {
  const [{ queryOf }, { openCollection }] = await Promise.all([
    import('../run-search.ts'),
    import('../open-collection.ts'),
  ]);
  const flags = fieldsOf(header.inputs.flags);
  const mode = (flags.mode ?? 'hybrid') as 'hybrid';
  const store = await openCollection(app, signal, tape);
  try {
    const query = queryOf({ topK: app.config.agent.topK, ...flags });
    const { context } = await (await app.retriever(store, { mode })).retrieve(query, signal);
    tape.outputs.search = foundOf(context);
  } finally {
    await store.close();
  }
}

async function rerunIngest({ app, header, recorded, tape, signal }: Rerun): Promise<void> {
  if (app.config.store === 'sqlite' && recorded.ingest?.intoNew === false) {
    throw new AppError(
      'invalid_input',
      'The tape recorded an ingest into a collection that was there before.',
      {
        hint: 'Only one into a new collection can be run again, since a replay leaves yours alone.',
      },
    );
  }
  const { ingestDocuments } = await import('../run-ingest.ts');
  await ingestDocuments(app, fieldsOf(header.inputs.flags), signal, tape);
}

/** The turns are noted; what is made of them follows from them. */
async function rerunEvaluation({ app, header, tape, signal }: Rerun): Promise<void> {
  const flags = fieldsOf(header.inputs.flags);
  const { evaluate } = await import('../eval/evaluate.ts');
  const plan =
    header.command === 'eval'
      ? (await import('../run-eval.ts')).evalPlan(flags, app)
      : (await import('../run-compare.ts')).comparePlan(flags, app);
  await evaluate(app, { ...flags, gate: [] }, plan, signal, tape);
}

function fieldsOf(value: TapeJson | undefined): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
