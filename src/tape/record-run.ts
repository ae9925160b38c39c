import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import { createRedactor } from '../faults/redactor.ts';
import type { Runtime } from '../ports/runtime.ts';
import { recordFetch } from './record-fetch.ts';
import { hideFilePlaces } from './redact/file-places.ts';
import { noOutputs } from './run-outputs.ts';
import type { TapeHeader, TapeJson } from './tape-format.ts';
import { createTapeRun, type Run, type TapeRun } from './tape-run.ts';
import { createRecordingRuntime } from './tape-runtime.ts';
import { createTapeWriter } from './tape-writer.ts';

/** A run under way that is recorded or replayed: what its work is given. */
export interface RunOnTape extends Run {
  readonly tape: TapeRun;
  readonly runtime: Runtime;
}

/** How a recording ended. */
export type RecordingEnd =
  | { type: 'recorded'; path: string; exchanges: number; failed: boolean; unchanged: boolean }
  /** What there is of it stays under another name. */
  | { type: 'abandoned'; partialPath: string };

interface RecordRunOptions {
  path: string;
  header: TapeHeader;
  /** The configured keys. */
  secrets: readonly string[];
  clock: Runtime;
  signal: AbortSignal;
  /** Hears how it ended, also if the run then throws. */
  onEnd(end: RecordingEnd): void;
}

/**
 * Does some work while it is recorded. Work that fails with an AppError is a whole recording: that it failed is what
 * the run came to. One that is interrupted, or shows a defect, is abandoned. Throws what the work throws, and
 * `invalid_input` where the tape cannot be written.
 */
export async function recordRun<T>(
  { path, header, secrets, clock, signal, onEnd }: RecordRunOptions,
  work: (run: RunOnTape) => Promise<T>,
): Promise<T> {
  const recording = await recordTape({ path, header, secrets });
  const outputs = noOutputs();
  const finish = async (failed: boolean) => {
    const { unchanged } = await recording.finish(outputs as TapeJson);
    onEnd({ type: 'recorded', path, exchanges: recording.count(), failed, unchanged });
  };
  let result: T;
  try {
    const runtime = createRecordingRuntime(header.seed, clock);
    result = await work({ tape: createTapeRun({ outputs, recorded: null }), runtime, signal });
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted' || signal.aborted) {
      await recording.abandon();
      onEnd({ type: 'abandoned', partialPath: recording.partialPath });
    } else {
      outputs.error = toErrorResponse(error);
      await finish(true);
    }
    throw error;
  }
  await finish(false);
  return result;
}

interface RecordTapeOptions {
  path: string;
  /** Its `redact` holds the patterns of the user's. */
  header: TapeHeader;
  /** The configured keys. */
  secrets: readonly string[];
}

interface RecordingTape {
  /** Where an interrupted recording stays. */
  readonly partialPath: string;
  /** How many exchanges it has so far. */
  count(): number;
  /** Ends the recording; the tape is in its place once this resolves. Throws, with nothing replaced, if it cannot be. */
  finish(outputs: TapeJson): Promise<{ unchanged: boolean }>;
  /** Ends it without a tape: what was recorded stays beside it, as an incomplete one. */
  abandon(): Promise<void>;
}

/** Records every call of the global `fetch` until `finish` or `abandon`. Throws `invalid_input` if it cannot write there. */
export async function recordTape({ path, header, secrets }: RecordTapeOptions): Promise<RecordingTape> {
  const redactor = createRedactor({ secrets, patterns: header.redact });
  const writer = await createTapeWriter({ path, header, redactor, keepUnchanged: true });
  const originalFetch = globalThis.fetch;
  let ids = 0;
  let count = 0;
  // Wraps `fetch` rather than sockets: bodies are decompressed, and each chunk has the time at which the program sees it.
  const recorder = recordFetch(originalFetch, {
    nextId: () => {
      ids += 1;
      return ids;
    },
    onExchange(exchange) {
      count += 1;
      writer.append(hideFilePlaces(exchange));
    },
  });
  globalThis.fetch = recorder.fetch;
  const stop = () => {
    globalThis.fetch = originalFetch;
    recorder.settle();
  };
  return {
    partialPath: writer.partialPath,
    count: () => count,
    async finish(outputs) {
      stop();
      return writer.close(outputs);
    },
    async abandon() {
      stop();
      await writer.abandon();
    },
  };
}
