import type * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { runSettings } from '../../app/run-settings.ts';
import type { Config } from '../../config/load-config.ts';
import type { Policy } from '../../domain/agent-config.ts';
import { AppError } from '../../faults/app-error.ts';
import { EXIT_DONE, exitCodeOf } from '../../faults/exit-code.ts';
import { validated } from '../../faults/validated.ts';
import { compareReplay, type ReplayResult } from '../../tape/compare-replay.ts';
import { type ReplayingRun, replayRun } from '../../tape/replay-run.ts';
import type { TapeJson } from '../../tape/tape-format.ts';
import { onCommandLine } from '../advice.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { renderReplay } from '../terminal/tape-views.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { recordedFlags, secretsNow, THIS_PROGRAM, withReplayedConfig } from './on-tape.ts';
import { asSettings } from './read-flags.ts';
import { interruptible, onApp } from './with-app.ts';

export interface ReplayFlags
  extends CommonFlags,
    Pick<TapeFlags, 'onMiss' | 'timing' | 'redact'>,
    Omit<
      AgentFlags,
      keyof TapeFlags | 'mode' | 'tools' | 'module' | 'filter' | 'session' | 'continue' | 'user'
    > {
  tape?: string[] | undefined;
  current?: boolean | undefined;
}

const DRIFT = exitCodeOf(new AppError('replay_drift', ''));

/** Runs every tape again. Exit code 7 if one came to something else, or asked for what is not on it. */
export function runReplay(flags: ReplayFlags): Promise<number> {
  return interruptible(async (signal) => {
    const results: ReplayResult[] = [];
    for (const path of flags.tape ?? []) {
      const result = await replayOne(path, flags, signal);
      results.push(result);
      if (!flags.json) renderReplay(createTerminal(process.stdout), result);
    }
    if (flags.json) process.stdout.write(`${JSON.stringify({ tapes: results })}\n`);
    return results.every(({ ok }) => ok) ? EXIT_DONE : DRIFT;
  }, 'No tape was changed.');
}

async function replayOne(path: string, flags: ReplayFlags, signal: AbortSignal): Promise<ReplayResult> {
  const { onMiss = 'fail', timing, redact, current = false, config: configPath } = flags;
  const { tape: _, current: __, ...given } = recordedFlags(asSettings(flags));
  let changed = given;
  if (onMiss === 'record' && (current || Object.keys(given).length > 0)) throw notRenewable();
  const outcome = await replayRun(
    {
      path,
      onMiss,
      timing,
      patterns: redact,
      secrets: secretsNow(configPath),
      signal,
      missEnds: 'turn',
      renewedBy: THIS_PROGRAM,
    },
    (run) => {
      const writes = run.header.command === 'ingest';
      const options = { changed: given, configPath, onMiss, writes, current };
      return withReplayedConfig(run, options, (config) => {
        if (current) changed = otherSettings(run, config);
        return onApp(config, run, (app) => runAgain(app, run, flags));
      });
    },
  );
  return compareReplay(outcome, { tape: path, changed, current, onMiss, formatAdvice: onCommandLine });
}

/** The settings of today that are others than the recorded ones. */
function otherSettings(run: ReplayingRun, config: Config): Record<string, TapeJson> {
  const now = runSettings(config);
  const names = Object.keys(run.settings).filter(
    (name) => JSON.stringify(run.settings[name]) !== JSON.stringify(now[name]),
  );
  return Object.fromEntries(names.map((name) => [name, now[name] ?? null]));
}

/** Does again what a tape recorded, by the function of its command; what it comes to is noted in the run. */
async function runAgain(app: App, run: ReplayingRun, flags: ReplayFlags): Promise<void> {
  const { command, inputs: recorded } = run.header;
  const read = <Schema extends z.ZodType>(schema: Schema) =>
    validated(schema, recorded.flags ?? {}, `What ${run.path} says that the run was asked for`);
  switch (command) {
    case 'ask':
    case 'chat': {
      const { askQuestions, conversationSchema } = await import('./ask-questions.ts');
      const { policy = app.config.agent.policy } = run.settings;
      const isOther = flags.policy !== undefined || app.config.agent.policy !== policy;
      const questions = questionsOf(run, isOther ? app.config.agent.policy : undefined);
      const session = run.recorded.resumed?.session.sessionId;
      const events = askQuestions(app, { ...read(conversationSchema), session, questions }, run);
      // What comes of them is noted by whoever observes the session.
      for await (const _ of events);
      return;
    }
    case 'search': {
      const { search, searchSchema } = await import('./search.ts');
      const inputs = read(searchSchema);
      await search(app, { ...inputs, topK: flags.topK ?? inputs.topK }, run);
      return;
    }
    case 'ingest': {
      const { ingestDocuments, ingestSchema } = await import('./ingest.ts');
      if (app.config.store === 'sqlite' && run.recorded.ingest?.intoNew === false) throw notRepeatable();
      await ingestDocuments(app, read(ingestSchema), run);
      return;
    }
    case 'eval': {
      const { evalSchema, evaluateArm } = await import('../evaluation/eval.ts');
      await evaluateArm(app, read(evalSchema), run);
      return;
    }
    case 'compare': {
      const { compareArms, compareSchema } = await import('../evaluation/compare.ts');
      await compareArms(app, read(compareSchema), run);
      return;
    }
    default:
      throw notRunnable(command);
  }
}

/** The questions of the tape, each with the policy that it had, or all with another. */
function questionsOf({ recorded }: ReplayingRun, policy: Policy | undefined) {
  return recorded.turns.map(({ question, filter, reset, policy: had }) => ({
    question,
    filter,
    reset,
    policy: policy ?? had ?? undefined,
  }));
}

function notRunnable(command: TapeJson): AppError {
  return new AppError(
    'invalid_input',
    command === null
      ? 'This tape was recorded by no command, so there is none to run again.'
      : `A tape of ${command} cannot be run again here.`,
    { hint: 'Use it with --replay, or in a test with useTape.' },
  );
}

function notRepeatable(): AppError {
  return new AppError(
    'invalid_input',
    'The tape recorded an ingest into a collection that was there before.',
    {
      hint: 'Only one into a new collection can be run again, since a replay leaves yours alone.',
    },
  );
}

function notRenewable(): AppError {
  return new AppError('invalid_input', 'A tape is renewed with its own settings, not with others.', {
    hint: 'Use --on-miss passthrough to see how the run would go, or record another tape with --record.',
  });
}
