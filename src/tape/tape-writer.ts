import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { advice, settingOf } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Redactor } from '../faults/redactor.ts';
import { keepUnchanged, type Recording } from './keep-unchanged.ts';
import { openTape, type Tape } from './open-tape.ts';
import { joined, joinedDeltas } from './redact/redact-chunks.ts';
import { redactExchange } from './redact/redact-exchange.ts';
import {
  TAPE_VERSION,
  type TapeExchange,
  type TapeHeader,
  type TapeJson,
  writeFault,
} from './tape-format.ts';
import { layOut, layOutExchange } from './tape-layout.ts';

interface TapeWriter {
  /** Where it is written until it is closed. */
  readonly partialPath: string;
  /** Redacts and appends. Faults are kept for `close`: the run that is recorded goes on. */
  append(exchange: TapeExchange): void;
  /** Puts the whole tape in its place, unless the same is there, and nothing if anything went wrong: then it throws. */
  close(outputs: TapeJson): Promise<{ unchanged: boolean }>;
  /** Leaves an incomplete tape under `partialPath`; whatever has the tape's own name stays. */
  abandon(): Promise<void>;
  /** Leaves nothing. */
  discard(): Promise<void>;
}

/** What is used of a file handle. */
interface TapeFile {
  write(bytes: Buffer): Promise<{ bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

interface TapeWriterOptions {
  path: string;
  header: TapeHeader;
  redactor: Redactor;
  /** What is as it was on the tape that it replaces stays as it stands there, ids and times included. */
  keepUnchanged?: boolean;
  /** Instead of the file system's. */
  openFile?: (path: string) => Promise<TapeFile>;
}

/**
 * Writes a tape as it goes: one exchange a line as its answer ends, into a file beside the tape; at the end all of it in
 * the order of the requests and laid out for people, in the tape's place. Throws `invalid_input` if another process
 * records there, or if what has the name is no tape.
 */
export async function createTapeWriter(options: TapeWriterOptions): Promise<TapeWriter> {
  const { path, redactor } = options;
  const partialPath = `${path}.partial`;
  const wholePath = `${path}.whole`;
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
  let exchanges = 0;
  let fault: unknown;
  let writing: Promise<void> = Promise.resolve();

  async function write(target: TapeFile, text: string): Promise<void> {
    if (redactor.holdsSecret(text)) throw leaked(path);
    for (let rest = Buffer.from(text); rest.length > 0; ) {
      const { bytesWritten } = await target.write(rest);
      rest = rest.subarray(bytesWritten);
    }
  }

  /** One after the other; after the first fault nothing more is written. */
  function then(text: () => string): void {
    writing = writing
      .then(() => (fault === undefined ? write(file, text()) : undefined))
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

  /** Gives back the digest. */
  async function writeWhole({ header, exchanges, outputs }: Recording): Promise<string> {
    const whole = await openFile(wholePath);
    const hash = createHash('sha256');
    const add = (text: string) => {
      hash.update(text);
      return write(whole, text);
    };
    try {
      await add(headerText(header));
      let first = true;
      for (const exchange of exchanges) {
        await add(`${first ? '' : ','}\n${layOutExchange(redactExchange(exchange, redactor))}`);
        first = false;
      }
      await add(tailText(outputs));
      const digest = hash.digest('hex');
      await write(whole, `  "digest": "${digest}"\n}\n`);
      await whole.sync();
      return digest;
    } finally {
      await whole.close();
    }
  }

  // The patterns stay as they are: one that is plain text would be redacted by itself.
  const header: TapeHeader = {
    ...redactor.value(options.header),
    redact: options.header.redact,
    version: TAPE_VERSION,
  };
  then(() => headerText(header));
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

    async close(outputs) {
      await writing;
      await end();
      let recorded: Tape | null = null;
      let before: Tape | null = null;
      try {
        if (fault !== undefined) throw fault;
        recorded = openTape(partialPath);
        before = options.keepUnchanged ? tapeOfBefore(path) : null;
        const recording = { header, outputs: redactor.value(outputs), redactor };
        const digest = await writeWhole(
          before === null
            ? { ...recording, exchanges: recorded.exchanges() }
            : keepUnchanged(before, recorded, recording),
        );
        const unchanged = before?.tail?.digest === digest;
        if (!unchanged) await rename(wholePath, path);
        return { unchanged };
      } catch (error) {
        return fail(error);
      } finally {
        recorded?.close();
        before?.close();
        for (const each of [partialPath, wholePath]) await rm(each, { force: true });
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
function headerText(header: TapeHeader): string {
  return `${layOut(header, '').slice(0, -2)},\n  "exchanges": [`;
}

function tailText(outputs: TapeJson): string {
  return `\n  ],\n${layOut({ outputs, complete: true }, '').slice(2, -2)},\n`;
}

/** Null where there is none that can be gone by. */
function tapeOfBefore(path: string): Tape | null {
  try {
    const tape = openTape(path);
    if (tape.complete && !tape.edited && tape.header.origin === 'recorded') return tape;
    tape.close();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  return null;
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
      hint: advice`Name what surrounds it${settingOf('redact', '<regular expression>', '')}, or leave the key out of the question.`,
    },
  );
}

/** Throws `invalid_input` if the name belongs to something that is no tape: a recording would take its place. */
async function probeTape(path: string): Promise<void> {
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
  throw new AppError('invalid_input', `${path} exists and is not a tape, so nothing is recorded over it.`, {
    hint: 'Choose another name for the tape.',
  });
}

/** Locks that this process holds: one with its id that is none of them is of an earlier process with the same id. */
const held = new Set<string>();
/** As long as a lock may be without its holder's name, which is written right after it is made. */
const NAMELESS_MS = 10_000;

/** Keeps other processes from recording to the same tape. Throws `invalid_input` if one does already. */
async function lockTape(path: string): Promise<() => Promise<void>> {
  const lock = resolve(`${path}.lock`);
  for (let attempt = 0; ; attempt += 1) {
    try {
      const file = await open(lock, 'wx');
      held.add(lock);
      const unlock = async () => {
        held.delete(lock);
        await rm(lock, { force: true });
      };
      await writeName(file).catch(async (error: unknown) => {
        await unlock();
        throw error;
      });
      return unlock;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      // A lock that its process left behind is taken over; one retry settles a race between two who do.
      const holder = await readFile(lock, 'utf8').catch(() => '');
      if (attempt > 0 || !(await isDead(lock, holder))) throw taken(path, lock, holder);
      await rm(lock, { force: true });
    }
  }
}

async function writeName(file: FileHandle): Promise<void> {
  try {
    await file.writeFile(`${hostname()} ${process.pid}\n`);
  } finally {
    await file.close();
  }
}

async function isDead(lock: string, holder: string): Promise<boolean> {
  if (held.has(lock)) return false;
  if (holder.trim() === '') {
    // A full disk leaves one without a name.
    const status = await stat(lock).catch(() => null);
    return status !== null && Date.now() - status.mtimeMs > NAMELESS_MS;
  }
  const [host, pid] = holder.trim().split(' ');
  if (host !== hostname() || !(Number(pid) > 0)) return false;
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function taken(path: string, lock: string, holder: string): AppError {
  const who = holder.trim() === '' ? 'Another process' : `Process ${holder.trim().split(' ').at(-1)}`;
  return new AppError('invalid_input', `${who} is recording to ${path}.`, {
    hint: `Wait until it is done, or record to another file. If there is no such process, delete ${lock}.`,
  });
}
