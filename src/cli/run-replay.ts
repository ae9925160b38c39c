import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config/load-config.ts';
import type { Policy } from '../domain/agent-config.ts';
import { AppError } from '../domain/app-error.ts';
import { EXIT_DONE, exitCodeOf } from '../domain/exit-code.ts';
import { collectionChanged, compareOutputs } from '../tape/compare-outputs.ts';
import { type ReplayingTape, replayTape } from '../tape/replay-tape.ts';
import { noOutputs, type RunOutputs } from '../tape/run-outputs.ts';
import type { TapeJson } from '../tape/tape-format.ts';
import { settingsOf as agentSettings } from './chat/agent-settings.ts';
import { interruptible } from './interruptible.ts';
import type { ReplayFlags } from './replay.ts';
import { recordedFlags } from './tape/recorded-flags.ts';
import { type ReplayResult, renderReplay } from './tape/render-replay.ts';
import { rerun } from './tape/rerun.ts';
import { configuredSecrets, withoutKeys } from './tape/run-settings.ts';
import { createTapeRun } from './tape/tape-run.ts';
import { recordedOutputs, settingsOf } from './tape/with-tape.ts';
import { createTerminal } from './terminal.ts';
import { onApp } from './with-app.ts';

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
  const { onMiss = 'fail', config: configPath } = flags;
  let turn = new AbortController();
  const replaying = await replayTape({
    path,
    onMiss,
    timing: flags.timing,
    patterns: flags.redact,
    secrets: configuredSecrets(loadConfig({ configPath })),
    onMissed: (_miss, error) => (onMiss === 'fail' ? turn.abort(error) : undefined),
  });
  const outputs = noOutputs();
  const home = await mkdtemp(join(tmpdir(), 'citeloop-replay-'));
  try {
    const { header } = replaying.tape;
    if (!replaying.tape.complete) throw incomplete(path);
    const recorded = recordedOutputs(replaying, header.command ?? 'no command');
    const { tape: _, ...changed } = recordedFlags(agentSettings(flags));
    if (onMiss === 'record' && Object.keys(changed).length > 0) throw notRenewable();
    const loaded = loadConfig({ flags: { ...settingsOf(replaying, recorded), ...changed }, configPath });
    const config = onMiss === 'fail' ? withoutKeys(loaded) : loaded;
    const own = header.command === 'ingest' ? { ...config, home } : config;
    await onApp(own, { signal, runtime: replaying.runtime }, (app) =>
      rerun({
        app,
        header,
        recorded,
        signal,
        tape: createTapeRun(outputs, recorded),
        policy: flags.policy as Policy | undefined,
        turnSignal() {
          turn = new AbortController();
          return AbortSignal.any([signal, turn.signal]);
        },
      }),
    ).catch((error: unknown) => {
      // Outside of a turn a miss ends the run; that is a result as well.
      if (replaying.misses().length === 0) throw error;
    });
    return await resultOf(path, replaying, { recorded, outputs, changed, flags });
  } finally {
    await replaying.stop();
    await rm(home, { recursive: true, force: true });
  }
}

interface Rerunning {
  recorded: RunOutputs;
  outputs: RunOutputs;
  /** Settings other than the recorded ones. */
  changed: Record<string, TapeJson>;
  flags: ReplayFlags;
}

async function resultOf(
  path: string,
  replaying: ReplayingTape,
  { recorded, outputs, changed, flags }: Rerunning,
): Promise<ReplayResult> {
  const isFork = Object.keys(changed).length > 0;
  const missed = replaying.misses();
  const differences = compareOutputs(recorded, outputs);
  const partedAt = recorded.turns.findIndex((_, index) =>
    differences.some(
      ({ path: place }) => place === `turn ${index + 1}` || place.startsWith(`turn ${index + 1}.`),
    ),
  );
  const cutOff = outputs.turns.flatMap(({ error }, index) =>
    error?.errorType === 'replay_drift' ? [`turn ${index + 1}`] : [],
  );
  const exchanges = { ...replaying.counts(), recorded: replaying.tape.count };
  const onLine: boolean =
    missed.length > 0 && cutOff.length === 0 && flags.onMiss !== undefined && flags.onMiss !== 'fail';
  const { renewed } = await replaying.stop(outputs as TapeJson);
  return {
    tape: path,
    command: replaying.tape.header.command,
    changed,
    ok: isFork ? missed.length === 0 || onLine : differences.length === 0 && (missed.length === 0 || onLine),
    turns: recorded.turns.length,
    partedAtTurn: partedAt < 0 ? null : partedAt + 1,
    // Of a turn that could not go on there is nothing to compare.
    differences: differences.filter(
      ({ path: place }) => !cutOff.some((turn) => place.startsWith(`${turn}.`)),
    ),
    collectionChanged: collectionChanged(recorded, outputs),
    exchanges,
    missing: missed.map(({ error }) => ({ message: error.message, hint: error.hint ?? '' })),
    live: onLine,
    renewed,
    outputs,
  };
}

function notRenewable(): AppError {
  return new AppError('invalid_input', 'A tape is renewed with its own settings, not with others.', {
    hint: 'Use --on-miss passthrough to see how the run would go, or record another tape with --record.',
  });
}

function incomplete(path: string): AppError {
  return new AppError('invalid_input', `${path} is incomplete: its recording was interrupted.`, {
    hint: 'Record it again. What is there can be looked at with: citeloop tape show',
  });
}
