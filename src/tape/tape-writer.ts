import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { advice, settingValue } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Redactor } from '../faults/redactor.ts';
import { writeFileAtomic } from '../files/write-file-atomic.ts';
import { diffAnswers } from './diff-answers.ts';
import { diffJson } from './diff-json.ts';
import { createExchangeFinder } from './exchange-finder.ts';
import { canonicalJson } from './match-key.ts';
import { readTape, type Tape } from './read-tape.ts';
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
  /**
   * Replaces the tape, unless it would be unchanged. Exchanges of the old tape that are unchanged keep their ids, times
   * and positions. If anything failed, throws and leaves the old tape.
   */
  close(outputs: TapeJson): Promise<{ unchanged: boolean }>;
  /** Keeps what was recorded as an incomplete tape beside the old one. */
  abandon(): void;
  /** Removes what was recorded. */
  discard(): void;
}

/**
 * Appends each exchange to a journal when its answer ends, so that a killed process loses only unfinished exchanges.
 * `close` then writes the tape in the order of the requests. Throws `invalid_input` if `path` is not a tape.
 */
export function createTapeWriter({
  path,
  header: givenHeader,
  redactor,
}: {
  path: string;
  header: TapeHeader;
  redactor: Redactor;
}): TapeWriter {
  const partialPath = `${path}.partial`;
  // A unique name lets two processes record to the same path: the last one to finish wins.
  const journalPath = `${path}.${randomUUID()}.partial`;
  // The patterns are kept as they are: one that is plain text would redact itself.
  const header: TapeHeader = {
    ...redactor.value(givenHeader),
    redact: givenHeader.redact,
    version: TAPE_VERSION,
  };
  const exchanges: TapeExchange[] = [];
  let failure: unknown;

  const assertNoSecret = (text: string): string => {
    if (!redactor.holdsSecret(text)) return text;
    throw new AppError('invalid_input', `The tape ${path} was not written: it would contain a secret.`, {
      hint: advice`Remove the text around it${settingValue('redact', '<regular expression>', '')}, or keep the secret out of the question.`,
    });
  };

  function formatTape(recording: Recording) {
    const { outputs } = recording;
    const list = recording.exchanges.map((exchange) => {
      const { id: _, ...redacted } = redactExchange(exchange, redactor);
      return `\n${serializeExchange(redacted)}`;
    });
    const tail = formatTapeJson({ outputs, complete: true }, '').slice(2, -2);
    const text = assertNoSecret(`${headerText(recording.header)}${list.join(',')}\n  ],\n${tail},\n`);
    const digest = createHash('sha256').update(text).digest('hex');
    return { digest, text: `${text}  "digest": "${digest}"\n}\n` };
  }

  assertReplaceable(path);
  try {
    writeFileSync(journalPath, assertNoSecret(headerText(header)));
  } catch (error) {
    rmSync(journalPath, { force: true });
    throw toTapeFileError('write', path, error);
  }
  return {
    partialPath,

    append(exchange) {
      if (failure !== undefined) return;
      try {
        const redacted = redactExchange(exchange, redactor);
        streamTexts(redacted).forEach(assertNoSecret);
        const separator = exchanges.length === 0 ? '' : ',';
        appendFileSync(journalPath, assertNoSecret(`${separator}\n${serializeExchange(redacted)}`));
        exchanges.push(redacted);
      } catch (error) {
        failure = error;
      }
    },

    async close(outputs) {
      try {
        if (failure !== undefined) throw failure;
        const recorded = {
          header,
          exchanges: exchanges.sort((a, b) => a.id - b.id),
          outputs: redactor.value(outputs),
        };
        const before = readUneditedTape(path);
        const { text, digest } = formatTape(
          before === null ? recorded : mergeRecording(before, recorded, redactor),
        );
        const unchanged = before?.digest === digest;
        if (!unchanged) await writeFileAtomic(path, text);
        return { unchanged };
      } catch (error) {
        throw toTapeFileError('write', path, error);
      } finally {
        rmSync(journalPath, { force: true });
      }
    },

    abandon() {
      // After a failure it may hold a secret, or nothing.
      if (failure === undefined) renameSync(journalPath, partialPath);
      else rmSync(journalPath, { force: true });
    },

    discard: () => rmSync(journalPath, { force: true }),
  };
}

/** The document up to the first exchange. */
function headerText(header: TapeHeader): string {
  return `${formatTapeJson(header, '').slice(0, -2)},\n  "exchanges": [`;
}

/** Null if there is no complete, unedited recording. */
function readUneditedTape(path: string): Tape | null {
  try {
    const tape = readTape(path);
    return tape.complete && !tape.edited && tape.header.origin === 'recorded' ? tape : null;
  } catch {
    return null;
  }
}

/** The texts in which a secret may be split over the chunks or events of a stream. */
function streamTexts({ response }: TapeExchange): string[] {
  const text = joinStreamChunks(response?.chunks ?? []);
  return [text, ...joinStreamDeltas(text)];
}

/** Throws `invalid_input` if the path holds something that is not a tape. */
function assertReplaceable(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  const text = stats.isFile() ? readFileSync(path, 'utf8') : '[]';
  if (text === '' || /^\s*\{\s*"version"\s*:\s*\d/.test(text)) return;
  throw new AppError('invalid_input', `${path} exists and is not a tape.`, {
    hint: 'Choose another name for the tape.',
  });
}

type Recording = Pick<Tape, 'header' | 'exchanges' | 'outputs'>;

/**
 * Merges a new recording into the tape that it replaces. What is unchanged keeps its ids, times and position, so that
 * recording an unchanged run again gives the same file.
 */
function mergeRecording(before: Tape, now: Recording, redactor: Redactor): Recording {
  const finder = createExchangeFinder(before, redactor);
  const unused = new Set(before.exchanges);
  const merged: { position: number; exchange: TapeExchange }[] = [];
  let position = 0;
  let isSame = true;

  for (const exchange of now.exchanges) {
    const found = finder.find(exchange.request);
    if (found === null || !unused.delete(found)) {
      // A new exchange follows the one that it was made after.
      merged.push({ position, exchange });
      isSame = false;
      continue;
    }
    position = found.id;
    const isKept = diffAnswers(found, exchange).length === 0;
    isSame &&= isKept;
    merged.push({ position, exchange: isKept ? found : { ...exchange, request: found.request } });
  }
  const { outputs: oldOutputs = null } = before;
  const sameOutputs = diffJson(canonicalJson(oldOutputs), canonicalJson(now.outputs ?? null)).length === 0;
  isSame &&= unused.size === 0 && sameOutputs && hasSameInputs(before.header, now.header);
  return {
    header: isSame ? { ...before.header, version: TAPE_VERSION } : now.header,
    outputs: sameOutputs ? oldOutputs : now.outputs,
    exchanges: merged.sort((a, b) => a.position - b.position).map(({ exchange }) => exchange),
  };
}

function hasSameInputs(before: TapeHeader, now: TapeHeader): boolean {
  const inputsOf = ({ createdAt: _, seed: __, madeBy: ___, version: ____, ...rest }: TapeHeader) => rest;
  return diffJson(inputsOf(before) as TapeJson, inputsOf(now) as TapeJson).length === 0;
}
