import { AppError } from '../domain/app-error.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Miss } from './explain-miss.ts';
import { openTape, type Tape } from './open-tape.ts';
import { createRedactor } from './redact/create-redactor.ts';
import { createReplayRuntime } from './replay-runtime.ts';
import { type OnMiss, startReplay } from './start-replay.ts';
import type { TapeHeader, TapeJson } from './tape-format.ts';
import { createTapePlayer, type PlayedCounts } from './tape-player.ts';
import type { Timing } from './tape-response.ts';
import { createTapeWriter } from './tape-writer.ts';

export interface ReplayTapeOptions {
  path: string;
  timing?: Timing | undefined;
  onMiss?: OnMiss | undefined;
  /** Configured keys, which requests may hold. */
  secrets?: readonly string[] | undefined;
  /** Further patterns of the user's; those of the tape hold anyway. */
  patterns?: readonly string[] | undefined;
  onMissed?: ((miss: Miss | null, error: AppError) => void) | undefined;
  /** With `onMiss: 'record'`, the header of the renewed tape. */
  renewedHeader?: ((header: TapeHeader) => TapeHeader) | undefined;
}

export interface ReplayingTape {
  readonly tape: Tape;
  /** The same clock and ids in every replay. */
  readonly runtime: Runtime;
  /** What was asked for and is not on the tape, in order. */
  misses(): readonly { miss: Miss | null; error: AppError }[];
  counts(): PlayedCounts;
  /** Exchanges that were not asked for; to be called before `stop`. */
  unused(): number[];
  /** Requests go to the network again; once is enough. With `onMiss: 'record'` and outputs, the tape is renewed if anything was missing. */
  stop(outputs?: TapeJson): Promise<{ renewed: boolean }>;
}

/** Answers every request of this process from a tape from now on. Throws `invalid_input` for a tape that cannot be used. */
export async function replayTape(options: ReplayTapeOptions): Promise<ReplayingTape> {
  const { path, onMiss = 'fail' } = options;
  const tape = openTape(path);
  try {
    if (tape.edited) throw edited(path);
    const redactor = createRedactor({
      secrets: options.secrets ?? [],
      patterns: [...tape.header.redact, ...(options.patterns ?? [])],
    });
    const player = createTapePlayer(tape, redactor);
    const header = options.renewedHeader?.(tape.header) ?? tape.header;
    const writer = onMiss === 'record' ? await createTapeWriter({ path, header, redactor }) : null;
    const misses: { miss: Miss | null; error: AppError }[] = [];
    const stop = await startReplay({
      player,
      onMiss,
      timing: options.timing ?? 'none',
      onMissed(miss, error) {
        misses.push({ miss, error });
        options.onMissed?.(miss, error);
      },
      ...(writer && { onExchange: writer.append }),
    });
    let stopped = false;
    return {
      tape,
      runtime: createReplayRuntime(tape.header.seed, tape.header.createdAt),
      misses: () => misses,
      counts: player.counts,
      unused: player.unused,
      async stop(outputs) {
        if (stopped) return { renewed: false };
        stopped = true;
        stop();
        const renewed = writer !== null && outputs !== undefined && misses.length > 0;
        if (renewed) await writer.close(outputs);
        else await writer?.discard();
        tape.close();
        return { renewed };
      },
    };
  } catch (error) {
    tape.close();
    throw error;
  }
}

function edited(path: string): AppError {
  return new AppError('invalid_input', `${path} says that it was recorded, but it was changed since.`, {
    hint: 'Record it again. If the change is meant, its "origin" must say "written by hand".',
  });
}
