import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { AppError } from '../domain/app-error.ts';
import { probeTape } from './probe-tape.ts';
import type { Redactor } from './redact/create-redactor.ts';
import { joined, joinedDeltas } from './redact/redact-chunks.ts';
import { redactExchange } from './redact/redact-exchange.ts';
import { writeFault } from './tape-fault.ts';
import type { TapeExchange, TapeHeader, TapeJson } from './tape-format.ts';
import { lockTape } from './tape-lock.ts';

export const PARTIAL = '.partial';

export interface TapeWriter {
  /** Where it is written until it is closed. */
  readonly partialPath: string;
  /** Redacts and appends. Faults are kept for `close`: the run that is recorded goes on. */
  append(exchange: TapeExchange): void;
  /** Puts the whole tape in its place, and nothing if anything went wrong: then it throws. */
  close(outputs: TapeJson, complete?: boolean): Promise<void>;
  /** Leaves an incomplete tape under `partialPath`; whatever has the tape's own name stays. */
  abandon(): Promise<void>;
  /** Leaves nothing. */
  discard(): Promise<void>;
}

export interface TapeWriterOptions {
  path: string;
  header: TapeHeader;
  redactor: Redactor;
  /** Instead of the file system's. */
  openFile?: (path: string) => Promise<Pick<FileHandle, 'write' | 'sync' | 'close'>>;
}

/**
 * Writes a tape as it goes: one exchange a line, into a file beside the tape that takes its place at the end. Throws
 * `invalid_input` if another process records there, or if what has the name is no tape.
 */
export async function createTapeWriter(options: TapeWriterOptions): Promise<TapeWriter> {
  const { path, redactor } = options;
  const partialPath = path + PARTIAL;
  const fail = (error: unknown): never => {
    throw writeFault(path, error);
  };
  await probeTape(path);
  const unlock = await lockTape(path).catch(fail);
  const openFile = options.openFile ?? ((name) => open(name, 'w'));
  const file = await openFile(partialPath).catch(async (error: unknown) => {
    await unlock();
    return fail(error);
  });
  const digest = createHash('sha256');
  let exchanges = 0;
  let fault: unknown;
  let writing: Promise<void> = Promise.resolve();

  /** One after the other; after the first fault nothing more is written. */
  async function write(text: string): Promise<void> {
    if (redactor.holdsSecret(text)) throw leaked(path);
    digest.update(text);
    for (let rest = Buffer.from(text); rest.length > 0; ) {
      const { bytesWritten } = await file.write(rest);
      rest = rest.subarray(bytesWritten);
    }
  }

  function then(text: () => string): void {
    writing = writing
      .then(() => (fault === undefined ? write(text()) : undefined))
      .catch((error: unknown) => {
        fault ??= error;
      });
  }

  async function end(): Promise<void> {
    await writing;
    await file.close().catch((error: unknown) => {
      fault ??= error;
    });
  }

  // The patterns stay as they are: one that is plain text would be redacted by itself.
  const { header } = options;
  then(() => headerText({ ...redactor.value(header), redact: header.redact }));
  return {
    partialPath,

    append(exchange) {
      then(() => {
        const redacted = redactExchange(exchange, redactor);
        if (spreadSecret(redacted, redactor)) throw leaked(path);
        const line = `${exchanges === 0 ? '' : ','}\n${JSON.stringify(redacted)}`;
        exchanges += 1;
        return line;
      });
    },

    async close(outputs, complete = true) {
      then(() => tailText(redactor.value(outputs), complete));
      await writing;
      then(() => `  "digest": "${digest.copy().digest('hex')}"\n}\n`);
      await writing;
      if (fault === undefined) {
        await file.sync().catch((error: unknown) => {
          fault ??= error;
        });
      }
      await end();
      try {
        if (fault !== undefined) throw fault;
        await rename(partialPath, path);
      } catch (error) {
        await rm(partialPath, { force: true });
        fail(error);
      } finally {
        await unlock();
      }
    },

    async abandon() {
      await end();
      // One that holds a key, or nothing, is of no use to anybody.
      if (fault !== undefined) await rm(partialPath, { force: true });
      await unlock();
    },

    async discard() {
      await end();
      await rm(partialPath, { force: true });
      await unlock();
    },
  };
}

/** All of the document up to the first exchange. */
export function headerText(header: TapeHeader): string {
  return `${JSON.stringify(header, null, 2).slice(0, -2)},\n  "exchanges": [`;
}

function tailText(outputs: TapeJson, complete: boolean): string {
  const text = JSON.stringify({ outputs, complete }, null, 2);
  return `\n  ],\n${text.slice(2, -2)},\n`;
}

/** A secret that only shows when the pieces of a stream are put together. */
function spreadSecret({ response }: TapeExchange, redactor: Redactor): boolean {
  if (response?.chunks === undefined) return false;
  const text = joined(response.chunks);
  return redactor.holdsSecret(text) || joinedDeltas(text).some(redactor.holdsSecret);
}

function leaked(path: string): AppError {
  return new AppError(
    'invalid_input',
    `The tape ${path} was not kept: the value of a key would stand in it.`,
    {
      hint: 'Name what surrounds it with --redact <regular expression>, or leave the key out of the question.',
    },
  );
}
