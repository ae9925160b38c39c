import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import { createRedactor } from '../faults/redactor.ts';
import type { Runtime } from '../ports/runtime.ts';
import { createFetchRecorder } from './record-fetch.ts';
import { hideFilePaths } from './redact/file-paths.ts';
import { createRunObserver, type TapedRun } from './run-observer.ts';
import { emptyRunOutputs } from './run-outputs.ts';
import type { TapeHeader, TapeJson } from './tape-format.ts';
import { createRecordingRuntime } from './tape-runtime.ts';
import { createTapeWriter } from './tape-writer.ts';

/** How a recording ended. An interrupted one is kept at `partialPath`. */
export type RecordingResult =
  | { type: 'recorded'; path: string; exchanges: number; failed: boolean; unchanged: boolean }
  | { type: 'abandoned'; partialPath: string };

interface RecordRunOptions {
  path: string;
  header: TapeHeader;
  /** Configured keys. */
  secrets: readonly string[];
  clock: Runtime;
  signal: AbortSignal;
  /** Called before the run returns or throws. */
  onEnd(end: RecordingResult): void;
}

/**
 * Records the requests and outputs of `work`. A run that fails with an AppError is a complete recording of that failure;
 * an interrupt or an internal error abandons it. Throws what `work` throws, and `invalid_input` if the tape cannot be
 * written.
 */
export async function recordRun<T>(
  { path, header, secrets, clock, signal, onEnd }: RecordRunOptions,
  work: (run: TapedRun) => Promise<T>,
): Promise<T> {
  const recording = startTapeRecording({ path, header, secrets });
  const outputs = emptyRunOutputs();
  const finish = async (failed: boolean) => {
    const { unchanged } = await recording.close(outputs as TapeJson);
    onEnd({ type: 'recorded', path, exchanges: recording.count(), failed, unchanged });
  };
  let result: T;
  try {
    const runtime = createRecordingRuntime(header.seed, clock);
    result = await work({ tape: createRunObserver(outputs, null), runtime, signal });
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted' || signal.aborted) {
      recording.abandon();
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

/** Records every call of the global `fetch` until `close` or `abandon`. Throws `invalid_input` if it cannot write there. */
export function startTapeRecording({
  path,
  header,
  secrets,
}: Pick<RecordRunOptions, 'path' | 'header' | 'secrets'>) {
  const redactor = createRedactor({ secrets, patterns: header.redact });
  const writer = createTapeWriter({ path, header, redactor });
  const originalFetch = globalThis.fetch;
  let count = 0;
  // Wraps `fetch` rather than sockets: bodies are decompressed, and each chunk has the time at which the program sees it.
  const recorder = createFetchRecorder(originalFetch, (exchange) => {
    count += 1;
    writer.append(hideFilePaths(exchange));
  });
  globalThis.fetch = recorder.fetch;
  const stop = () => {
    globalThis.fetch = originalFetch;
    recorder.settle();
  };
  return {
    partialPath: writer.partialPath,
    count: () => count,
    close(outputs: TapeJson) {
      stop();
      return writer.close(outputs);
    },
    abandon() {
      stop();
      writer.abandon();
    },
  };
}
