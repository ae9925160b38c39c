import { createRedactor } from './redact/create-redactor.ts';
import { startRecording } from './start-recording.ts';
import type { TapeHeader, TapeJson } from './tape-format.ts';
import { createTapeWriter } from './tape-writer.ts';

export interface RecordTapeOptions {
  path: string;
  /** Its `redact` holds the patterns of the user's. */
  header: TapeHeader;
  /** The configured keys. */
  secrets: readonly string[];
}

export interface RecordingTape {
  /** Where an interrupted recording stays. */
  readonly partialPath: string;
  /** How many exchanges it has so far. */
  count(): number;
  /** Ends the recording; the tape is in its place once this resolves. Throws, with nothing replaced, if it cannot be. */
  finish(outputs: TapeJson): Promise<void>;
  /** Ends it without a tape: what was recorded stays beside it, as an incomplete one. */
  abandon(): Promise<void>;
}

/** Records every call of `fetch` from now on. Throws `invalid_input` if the tape cannot be written there. */
export async function recordTape({ path, header, secrets }: RecordTapeOptions): Promise<RecordingTape> {
  const redactor = createRedactor({ secrets, patterns: header.redact });
  const writer = await createTapeWriter({ path, header, redactor });
  let count = 0;
  const stop = startRecording((exchange) => {
    count += 1;
    writer.append(exchange);
  });
  return {
    partialPath: writer.partialPath,
    count: () => count,
    async finish(outputs) {
      stop();
      await writer.close(outputs);
    },
    async abandon() {
      stop();
      await writer.abandon();
    },
  };
}
