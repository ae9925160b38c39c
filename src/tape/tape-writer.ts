import { createHash } from 'node:crypto';
import { access, constants, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { advice, settingOf } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Redactor } from '../faults/redactor.ts';
import { writeFileAtomic } from '../files/write-file-atomic.ts';
import { mergeRecording, type RecordingContent } from './merge-recording.ts';
import { openTape, type Tape } from './open-tape.ts';
import { joinStreamChunks, joinStreamDeltas } from './redact/redact-chunks.ts';
import { redactExchange } from './redact/redact-exchange.ts';
import { formatTapeJson, serializeExchange } from './serialize-exchange.ts';
import {
  TAPE_VERSION,
  type TapeExchange,
  type TapeHeader,
  type TapeJson,
  toTapeFileError,
} from './tape-format.ts';

export interface TapeWriter {
  /** Where `abandon` leaves the incomplete tape. */
  readonly partialPath: string;
  /** Redacts and keeps an exchange. Must not throw: errors are reported by `close`. */
  append(exchange: TapeExchange): void;
  /** Replaces the tape, unless it would be unchanged. If anything failed, throws and leaves the old tape. */
  close(outputs: TapeJson): Promise<{ unchanged: boolean }>;
  /** Writes what was recorded as an incomplete tape beside the old one. */
  abandon(): Promise<void>;
}

interface TapeWriterOptions {
  path: string;
  header: TapeHeader;
  redactor: Redactor;
  /** Whether unchanged exchanges of the existing tape keep their ids, times and positions. */
  keepUnchanged?: boolean;
}

/** Throws `invalid_input` if the path holds something that is not a tape, or its folder is not writable. */
export async function createTapeWriter(options: TapeWriterOptions): Promise<TapeWriter> {
  const { path, redactor, keepUnchanged = false } = options;
  const partialPath = `${path}.partial`;
  const exchanges: TapeExchange[] = [];
  let failure: unknown;
  const fail = (error: unknown): never => {
    throw toTapeFileError('write', path, error);
  };
  await assertReplaceable(path);
  await access(dirname(path), constants.W_OK).catch(fail);
  // The patterns are kept as they are: one that is plain text would redact itself.
  const header: TapeHeader = {
    ...redactor.value(options.header),
    redact: options.header.redact,
    version: TAPE_VERSION,
  };
  const inRequestOrder = () => exchanges.toSorted((a, b) => a.id - b.id);

  /** Throws `invalid_input` for a text with a secret. */
  function assertNoSecret(text: string): string {
    if (redactor.holdsSecret(text)) throw leakedSecretError(path);
    return text;
  }

  /** The document up to the end of the exchanges. */
  function* serialize(content: Pick<RecordingContent, 'header' | 'exchanges'>): Generator<string> {
    yield assertNoSecret(`${formatTapeJson(content.header, '').slice(0, -2)},\n  "exchanges": [`);
    let separator = '';
    for (const exchange of content.exchanges) {
      const redacted = redactExchange(exchange, redactor);
      if (holdsSplitSecret(redacted, redactor)) throw leakedSecretError(path);
      yield assertNoSecret(`${separator}\n${serializeExchange(redacted)}`);
      separator = ',';
    }
  }

  return {
    partialPath,

    append(exchange) {
      try {
        exchanges.push(redactExchange(exchange, redactor));
      } catch (error) {
        failure ??= error;
      }
    },

    async close(outputs) {
      try {
        if (failure !== undefined) throw failure;
        using before = keepUnchanged ? openUneditedTape(path) : null;
        const recording = { header, exchanges: inRequestOrder(), outputs: redactor.value(outputs) };
        const content = before === null ? recording : mergeRecording(before, recording, redactor);
        const tail = formatTapeJson({ outputs: content.outputs, complete: true }, '').slice(2, -2);
        const parts = [...serialize(content), assertNoSecret(`\n  ],\n${tail},\n`)];
        const hash = createHash('sha256');
        for (const part of parts) hash.update(part);
        const digest = hash.digest('hex');
        const unchanged = before?.tail?.digest === digest;
        if (!unchanged) await writeFileAtomic(path, [...parts, `  "digest": "${digest}"\n}\n`]);
        return { unchanged };
      } catch (error) {
        return fail(error);
      }
    },

    async abandon() {
      try {
        await writeFileAtomic(partialPath, [...serialize({ header, exchanges: inRequestOrder() }), '\n']);
      } catch {
        // Without an incomplete tape. The error that ended the run is the one to report.
      }
    },
  };
}

/** Null if there is no complete, unedited recording. */
function openUneditedTape(path: string): Tape | null {
  try {
    const tape = openTape(path);
    if (tape.complete && !tape.edited && tape.header.origin === 'recorded') return tape;
    tape.close();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  return null;
}

/** Finds a secret that is split over the chunks or events of a stream. */
function holdsSplitSecret({ response }: TapeExchange, redactor: Redactor): boolean {
  if (response?.chunks === undefined) return false;
  const text = joinStreamChunks(response.chunks);
  return redactor.holdsSecret(text) || joinStreamDeltas(text).some(redactor.holdsSecret);
}

function leakedSecretError(path: string): AppError {
  return new AppError('invalid_input', `The tape ${path} was not written: it would contain a secret.`, {
    hint: advice`Remove the text around it${settingOf('redact', '<regular expression>', '')}, or keep the secret out of the question.`,
  });
}

async function assertReplaceable(path: string): Promise<void> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    const start = buffer.toString('utf8', 0, bytesRead);
    if (bytesRead === 0 || /^\s*\{\s*"version"\s*:\s*\d/.test(start)) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EISDIR') throw error;
  } finally {
    await file.close();
  }
  throw new AppError('invalid_input', `${path} exists and is not a tape.`, {
    hint: 'Choose another name for the tape.',
  });
}
