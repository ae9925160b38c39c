import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { advice, settingValue } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Redactor } from '../faults/redactor.ts';
import { diffAnswers } from './diff-answers.ts';
import { diffJson } from './diff-json.ts';
import { createExchangeFinder } from './exchange-finder.ts';
import { canonicalJson } from './match-key.ts';
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
  /** Redacts and appends an exchange. Must not throw: errors are reported by `close`. */
  append(exchange: TapeExchange): void;
  /** Replaces the tape, unless it would be unchanged. If anything failed, throws and leaves the old tape. */
  close(outputs: TapeJson): Promise<{ unchanged: boolean }>;
  /** Keeps what was recorded as an incomplete tape beside the old one. */
  abandon(): Promise<void>;
  /** Removes what was recorded. */
  discard(): Promise<void>;
}

interface TapeWriterOptions {
  path: string;
  header: TapeHeader;
  redactor: Redactor;
  /** Whether unchanged exchanges of the existing tape keep their ids, times and positions. */
  keepUnchanged?: boolean;
}

/**
 * Appends each exchange to a temporary file when its answer ends, so that a crash loses little. `close` then writes the
 * tape in the order of the requests and renames it into place. Throws `invalid_input` if `path` is not a tape.
 */
export async function createTapeWriter(options: TapeWriterOptions): Promise<TapeWriter> {
  const { path, redactor } = options;
  const partialPath = `${path}.partial`;
  // A unique name lets two processes record to the same path: the last one to finish wins.
  const appendedPath = `${path}.${randomUUID()}.partial`;
  const finalPath = `${path}.${randomUUID()}.partial`;
  const fail = (error: unknown): never => {
    throw toTapeFileError('write', path, error);
  };
  await assertReplaceable(path);
  const file = await open(appendedPath, 'w').catch(fail);
  let exchanges = 0;
  let failure: unknown;
  let writing: Promise<void> = Promise.resolve();

  async function write(target: FileHandle, text: string): Promise<void> {
    if (redactor.holdsSecret(text)) throw leakedSecretError(path);
    await target.appendFile(text);
  }

  /** Writes are queued. After the first failure nothing more is written. */
  function enqueue(text: () => string): void {
    writing = writing
      .then(() => (failure === undefined ? write(file, text()) : undefined))
      .catch((error: unknown) => {
        failure ??= error;
      });
  }

  async function finishAppending(): Promise<void> {
    await writing;
    await file.close().catch((error: unknown) => {
      failure ??= error;
    });
  }

  /** Returns the digest. */
  async function writeTape(content: {
    header: TapeHeader;
    exchanges: Iterable<TapeExchange>;
    outputs: TapeJson;
  }): Promise<string> {
    const target = await open(finalPath, 'w');
    const hash = createHash('sha256');
    const add = (text: string) => {
      hash.update(text);
      return write(target, text);
    };
    try {
      await add(headerText(content.header));
      let separator = '';
      for (const exchange of content.exchanges) {
        const { id: _, ...redacted } = redactExchange(exchange, redactor);
        await add(`${separator}\n${serializeExchange(redacted)}`);
        separator = ',';
      }
      await add(tailText(content.outputs));
      const digest = hash.digest('hex');
      await write(target, `  "digest": "${digest}"\n}\n`);
      await target.sync();
      return digest;
    } finally {
      await target.close();
    }
  }

  // The patterns are kept as they are: one that is plain text would redact itself.
  const header: TapeHeader = {
    ...redactor.value(options.header),
    redact: options.header.redact,
    version: TAPE_VERSION,
  };
  enqueue(() => headerText(header));
  return {
    partialPath,

    append(exchange) {
      enqueue(() => {
        const redacted = redactExchange(exchange, redactor);
        if (holdsSplitSecret(redacted, redactor)) throw leakedSecretError(path);
        exchanges += 1;
        return `${exchanges === 1 ? '' : ','}\n${serializeExchange(redacted)}`;
      });
    },

    async close(outputs) {
      await finishAppending();
      using opened = new DisposableStack();
      try {
        if (failure !== undefined) throw failure;
        const recorded = opened.use(openTape(appendedPath));
        const before = options.keepUnchanged ? opened.use(openUneditedTape(path)) : null;
        const recording = { header, outputs: redactor.value(outputs), redactor };
        const digest = await writeTape(
          before === null
            ? { ...recording, exchanges: recorded.exchanges() }
            : mergeRecording(before, recorded, recording),
        );
        const unchanged = before?.tail?.digest === digest;
        if (!unchanged) await rename(finalPath, path);
        return { unchanged };
      } catch (error) {
        return fail(error);
      } finally {
        for (const each of [appendedPath, finalPath]) await rm(each, { force: true });
      }
    },

    async abandon() {
      await finishAppending();
      // After a failure it may hold a secret, or nothing.
      if (failure === undefined) await rename(appendedPath, partialPath);
      else await rm(appendedPath, { force: true });
    },

    async discard() {
      await finishAppending();
      await rm(appendedPath, { force: true });
    },
  };
}

/** The document up to the first exchange. */
function headerText(header: TapeHeader): string {
  return `${formatTapeJson(header, '').slice(0, -2)},\n  "exchanges": [`;
}

function tailText(outputs: TapeJson): string {
  return `\n  ],\n${formatTapeJson({ outputs, complete: true }, '').slice(2, -2)},\n`;
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
    hint: advice`Remove the text around it${settingValue('redact', '<regular expression>', '')}, or keep the secret out of the question.`,
  });
}

/** Throws `invalid_input` if the path holds something that is not a tape. */
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

/**
 * Merges a new recording into the tape that it replaces. What is unchanged keeps its ids, times and position, so that
 * recording an unchanged run again gives the same file.
 */
function mergeRecording(
  before: Tape,
  now: Tape,
  { header, outputs, redactor }: { header: TapeHeader; outputs: TapeJson; redactor: Redactor },
) {
  const finder = createExchangeFinder(before, redactor);
  const oldEntries = new Map(before.entries().map((entry) => [entry.id, entry]));
  const merged: { position: number; read: () => TapeExchange }[] = [];
  let position = 0;
  let isSame = true;

  for (const entry of now.entries()) {
    const exchange = now.read(entry);
    const found = finder.find(exchange.request);
    const oldEntry = found === null ? undefined : oldEntries.get(found.id);
    if (found === null || oldEntry === undefined) {
      // A new exchange follows the one that it was made after.
      merged.push({ position, read: () => now.read(entry) });
      isSame = false;
      continue;
    }
    oldEntries.delete(oldEntry.id);
    position = oldEntry.id;
    const isKept = diffAnswers(found, exchange).length === 0;
    isSame &&= isKept;
    const { request } = found;
    merged.push({
      position,
      read: () => (isKept ? before.read(oldEntry) : { ...now.read(entry), request }),
    });
  }
  const oldOutputs = before.tail?.outputs ?? null;
  const sameOutputs = diffJson(canonicalJson(oldOutputs), canonicalJson(outputs)).length === 0;
  isSame &&= oldEntries.size === 0 && sameOutputs && hasSameInputs(before.header, header);
  return {
    header: isSame ? { ...before.header, version: header.version } : header,
    outputs: sameOutputs ? oldOutputs : outputs,
    exchanges: merged
      .sort((a, b) => a.position - b.position)
      .values()
      .map(({ read }) => read()),
  };
}

function hasSameInputs(before: TapeHeader, now: TapeHeader): boolean {
  const inputsOf = ({ createdAt: _, seed: __, madeBy: ___, version: ____, ...rest }: TapeHeader) => rest;
  return diffJson(inputsOf(before) as TapeJson, inputsOf(now) as TapeJson).length === 0;
}
