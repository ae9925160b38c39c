import { resolve } from 'node:path';
import type * as z from 'zod';
import { assertConfiguredServices } from '../../app/configured-services.ts';
import type { App } from '../../app/create-app.ts';
import { assertTrustedCode } from '../../config/trust.ts';
import { parseArm } from '../../evaluation/run/plan-arms.ts';
import { AppError } from '../../faults/app-error.ts';
import { EXIT_SUCCESS, exitCodeOf } from '../../faults/exit-code.ts';
import { parseOrThrow } from '../../faults/parse-or-throw.ts';
import { compareReplay, type ReplayComparison } from '../../tape/compare-replay.ts';
import { type ReplayedRun, replayRun } from '../../tape/replay-run.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { formatAdvice } from '../format-advice.ts';
import { renderReplay } from '../terminal/tape-views.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { toSettings } from './read-flags.ts';
import { toRecordedFlags, toReplayOptions, withReplayedConfig } from './taped-command.ts';
import { runOnApp, withInterruptSignal } from './with-app.ts';

export interface ReplayFlags
  extends CommonFlags,
    Pick<TapeFlags, 'onMiss' | 'timing' | 'redact'>,
    Omit<AgentFlags, keyof TapeFlags | 'mode' | 'module' | 'filter' | 'session' | 'continue' | 'user'> {
  tape?: string[] | undefined;
  current?: boolean | undefined;
}

const DRIFT = exitCodeOf(new AppError('replay_drift', ''));

/** Replays tapes and compares the results. Exit code 7 if one differs or a request is not on its tape. */
export function runReplay(flags: ReplayFlags): Promise<number> {
  return withInterruptSignal(async (signal) => {
    const results: ReplayComparison[] = [];
    for (const path of flags.tape ?? []) {
      const result = await replayOne(path, flags, signal);
      results.push(result);
      if (!flags.json) renderReplay(createTerminal(process.stdout), result);
    }
    if (flags.json) process.stdout.write(`${JSON.stringify({ tapes: results })}\n`);
    return results.every(({ ok }) => ok) ? EXIT_SUCCESS : DRIFT;
  }, 'No tape was changed.');
}

async function replayOne(path: string, flags: ReplayFlags, signal: AbortSignal): Promise<ReplayComparison> {
  const { onMiss = 'fail', current = false, config: configPath } = flags;
  const { tape: _, current: __, ...given } = toRecordedFlags(toSettings(flags));
  if (onMiss === 'record' && (current || Object.keys(given).length > 0)) {
    throw new AppError('invalid_input', '--on-miss record needs the settings of the tape.', {
      hint: 'Use --on-miss passthrough with other settings, or record another tape with --record.',
    });
  }
  const outcome = await replayRun(
    { ...toReplayOptions(flags, configPath), path, signal, missEnds: 'turn' },
    (run) => {
      const writes = run.header.command === 'ingest';
      const options = { changed: given, configPath, onMiss, writes, current };
      return withReplayedConfig(run, options, (config) =>
        runOnApp(config, run, (app) => rerunCommand(app, run, flags)),
      );
    },
  );
  const differing = outcome.context.changedSettings.map(({ name, after = null }) => [name, after] as const);
  const changed = current ? Object.fromEntries(differing) : given;
  return compareReplay(outcome, { tape: path, changed, current, onMiss, formatAdvice: formatAdvice });
}

/** Runs the recorded command again. Its outputs are collected by `run.tape`. */
async function rerunCommand(app: App, run: ReplayedRun, flags: ReplayFlags): Promise<void> {
  const { command, inputs: recorded } = run.header;
  const read = <Schema extends z.ZodType>(schema: Schema) =>
    parseOrThrow(schema, recorded.flags ?? {}, `The "inputs" field of ${run.path}`);
  switch (command) {
    case 'ask':
    case 'chat': {
      const { askQuestions, conversationInputsSchema } = await import('./ask.ts');
      const { policy = app.config.agent.policy } = run.settings;
      const isOther = flags.policy !== undefined || app.config.agent.policy !== policy;
      const questions = run.recorded.turns.map(({ question, filter, reset, policy: had }) => ({
        question,
        filter,
        reset,
        policy: isOther ? app.config.agent.policy : (had ?? undefined),
      }));
      const session = run.recorded.resumed?.session.sessionId;
      const events = askQuestions(app, { ...read(conversationInputsSchema), session, questions }, run);
      for await (const _ of events);
      return;
    }
    case 'search': {
      const { searchCollection, searchInputsSchema } = await import('./search.ts');
      const inputs = read(searchInputsSchema);
      await searchCollection(app, { ...inputs, topK: flags.topK ?? inputs.topK }, run);
      return;
    }
    case 'ingest': {
      const { ingestDocuments, ingestSchema } = await import('./ingest.ts');
      if (app.config.store === 'sqlite' && run.recorded.ingest?.intoNew === false)
        throw new AppError('invalid_input', 'The tape recorded an ingest into an existing collection.', {
          hint: 'A replay does not change your collections: only an ingest into a new one can be run again.',
        });
      await ingestDocuments(app, read(ingestSchema), run);
      return;
    }
    case 'eval': {
      const { evalInputsSchema, evaluateSettings } = await import('../evaluation/compare.ts');
      const inputs = read(evalInputsSchema);
      assertConfiguredAddresses([inputs.gradeBaseUrl], flags);
      await evaluateSettings(app, inputs, run);
      return;
    }
    case 'compare': {
      const { compareArms, compareInputsSchema } = await import('../evaluation/compare.ts');
      const inputs = read(compareInputsSchema);
      const addresses = inputs.arm?.map((arm) => parseArm(arm).changed.baseUrl) ?? [];
      assertConfiguredAddresses([inputs.gradeBaseUrl, ...addresses], flags);
      for (const { module } of inputs.arm?.map(parseArm) ?? [])
        if (module !== undefined) assertTrustedCode(resolve(module.split('#')[0] ?? ''));
      await compareArms(app, inputs, run);
      return;
    }
    default:
      throw new AppError('invalid_input', `A tape of ${command ?? 'no command'} cannot be run again.`, {
        hint: 'Use it with --replay, or in a test with useTape.',
      });
  }
}

/** Addresses in the flags of a tape, to which a replay that sends requests would send keys. */
function assertConfiguredAddresses(addresses: readonly unknown[], { onMiss = 'fail', config }: ReplayFlags) {
  if (onMiss === 'fail') return;
  for (const baseUrl of addresses)
    if (typeof baseUrl === 'string') assertConfiguredServices({ baseUrl }, {}, config);
}
