import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { AppError } from '../faults/app-error.ts';
import { validated } from '../faults/validated.ts';
import { matchKey } from './match-key.ts';
import {
  exchangeSchema,
  headerSchema,
  notATape,
  readFault,
  TAPE_VERSION,
  type TapeExchange,
  type TapeHeader,
  type TapeTail,
  tailSchema,
  type WrittenExchange,
} from './tape-format.ts';
import { exchangeOf } from './tape-layout.ts';

/** Where an exchange stands in its file. */
export interface TapeEntry {
  id: number;
  offset: number;
  length: number;
}

interface TapeIndex {
  readonly count: number;
  add(exchange: TapeExchange, entry: TapeEntry): void;
  /** To be called once all are there: puts them in the order in which the requests were made. */
  settle(): void;
  entries(): readonly TapeEntry[];
  /** What was answered to such a request, in order. Takes the same time however long the tape is. */
  find(exact: string): readonly TapeEntry[];
  /** The same for requests that differ in the numbers of their embeddings alone. */
  findNearly(nearly: string): readonly TapeEntry[];
}

/** An open tape. Of its exchanges only an index is in memory; each is read when it is asked for. */
export interface Tape extends Pick<TapeIndex, 'find' | 'findNearly' | 'count' | 'entries'> {
  readonly path: string;
  readonly header: TapeHeader;
  /** Without a tail for a recording that was interrupted. */
  readonly tail: TapeTail | null;
  readonly complete: boolean;
  /** Whether it says that it was recorded, and was changed since. */
  readonly edited: boolean;
  read(entry: TapeEntry): TapeExchange;
  /** In the order in which the requests were made. */
  exchanges(): Iterable<TapeExchange>;
  close(): void;
}

const EXCHANGES = '  "exchanges": [';
const END = /^ {2}\],?$/;
const DIGEST = '  "digest": ';
const BRACE = 0x7b;
const COMMA = 0x2c;
/** The first and the last line of an exchange that takes several. */
const OPENING = Buffer.from('    {');
const CLOSING = /^ {4}\},?$/;

/**
 * Opens a tape in one pass over the file. A tape whose end is missing is read as far as it goes. Throws
 * `invalid_input` for what is no tape, or one of a newer format.
 */
export function openTape(path: string): Tape {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const tape = readTape(path, descriptor);
    if (tape !== null) return tape;
    const whole = readWhole(path);
    closeSync(descriptor);
    return whole;
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw readFault(path, error);
  }
}

/** Null if the file does not have the layout of a recording. */
function readTape(path: string, descriptor: number): Tape | null {
  const index = createTapeIndex();
  const hash = createHash('sha256');
  const head: string[] = [];
  const end: string[] = [];
  let part: 'head' | 'exchanges' | 'end' = 'head';
  let digest: string | null = null;
  let header: TapeHeader | undefined;
  /** Where the exchange began that the lines belong to. */
  let began: number | null = null;

  /** False where the file ends within it. */
  function add(offset: number, length: number, ended: boolean): boolean {
    const exchange = readExchange(path, textAt(descriptor, offset, length), index.count + 1, ended);
    if (exchange !== null) index.add(exchange, { id: exchange.id, offset, length });
    return exchange !== null;
  }

  for (const { offset, bytes, ended } of readLines(descriptor)) {
    const comma = bytes.at(-1) === COMMA ? 1 : 0;
    if (part !== 'exchanges') {
      const line = bytes.toString('utf8');
      if (line.startsWith(DIGEST)) digest = hash.copy().digest('hex');
      if (part === 'end') end.push(line);
      else head.push(line);
      if (line === EXCHANGES) {
        header = checkedHeader(path, parsed(path, `${head.join('\n')}]}`));
        part = 'exchanges';
      }
    } else if (began !== null) {
      if (bytes.length > OPENING.length + 1 || !CLOSING.test(bytes.toString('latin1'))) continue;
      if (!add(began, offset + bytes.length - comma - began, ended)) break;
      hash.update(textAt(descriptor, began, offset - began));
      began = null;
    } else if (END.test(bytes.toString('utf8', 0, 8))) {
      part = 'end';
    } else if (bytes.equals(OPENING)) {
      began = offset;
      continue;
    } else if (bytes[0] !== BRACE) {
      const cut =
        !ended && ['  ],', OPENING.toString()].some((line) => line.startsWith(bytes.toString('utf8')));
      if (cut) break;
      return null;
    } else if (!add(offset, bytes.length - comma, ended)) break;
    hash.update(bytes).update(ended ? '\n' : '');
  }
  if (header === undefined) return null;
  index.settle();
  const tail = end.length === 0 ? null : readTail(path, `{${end.join('\n')}`);
  // Checked when the tape was opened.
  const read = ({ id, offset, length }: TapeEntry): TapeExchange =>
    exchangeOf(JSON.parse(textAt(descriptor, offset, length)) as WrittenExchange, id);
  return {
    path,
    header,
    tail,
    complete: tail?.complete ?? false,
    edited:
      header.origin === 'recorded' && tail !== null && (tail.digest === undefined || tail.digest !== digest),
    get count() {
      return index.count;
    },
    entries: index.entries,
    find: index.find,
    findNearly: index.findNearly,
    read,
    *exchanges() {
      for (const entry of index.entries()) yield read(entry);
    },
    close: () => closeSync(descriptor),
  };
}

function textAt(descriptor: number, offset: number, length: number): string {
  const bytes = Buffer.allocUnsafe(length);
  readSync(descriptor, bytes, 0, length, offset);
  return bytes.toString('utf8');
}

/** A tape in any layout, such as one that a person or a formatter has written: all of it in memory. */
function readWhole(path: string): Tape {
  const text = readFileSync(path, 'utf8');
  const document = parsed(path, text);
  const { exchanges = [], outputs, complete, ...fields } = document as Record<string, unknown>;
  const header = checkedHeader(path, fields);
  if (!Array.isArray(exchanges)) throw notATape(path, 'its exchanges are no list');
  const index = createTapeIndex();
  const kept: TapeExchange[] = exchanges.map((each, number) =>
    exchangeOf(validated(exchangeSchema, each, `Exchange ${number + 1} of ${path}`), number + 1),
  );
  for (const [offset, exchange] of kept.entries())
    index.add(exchange, { id: exchange.id, offset, length: 0 });
  index.settle();
  const tail =
    complete === undefined ? null : validated(tailSchema, { outputs, complete }, `The end of ${path}`);
  return {
    path,
    header,
    tail,
    complete: tail?.complete ?? false,
    edited: header.origin === 'recorded',
    count: kept.length,
    entries: index.entries,
    find: index.find,
    findNearly: index.findNearly,
    read: ({ offset }) => kept[offset] as TapeExchange,
    *exchanges() {
      for (const { offset } of index.entries()) yield kept[offset] as TapeExchange;
    },
    close: () => {},
  };
}

function parsed(path: string, text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document === 'object' && document !== null && !Array.isArray(document)) return document;
  } catch {
    // Said below.
  }
  throw notATape(path, text.trim() === '' ? 'it is empty' : 'it is not the JSON of one');
}

function checkedHeader(path: string, fields: unknown): TapeHeader {
  const { version } = fields as { version?: unknown };
  if (typeof version !== 'number') throw notATape(path, 'it has no version');
  if (version > TAPE_VERSION) {
    throw new AppError('invalid_input', `${path} was made by a newer citeloop: its format is ${version}.`, {
      hint: `This one reads format ${TAPE_VERSION}. Update citeloop, or record the tape again.`,
    });
  }
  return validated(headerSchema, fields, `The tape ${path}`);
}

/** Null for a last line that was cut: a recording that ended in the middle of writing it. */
function readExchange(path: string, text: string, number: number, ended: boolean): TapeExchange | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (!ended) return null;
    throw new AppError('invalid_input', `Exchange ${number} of ${path} is not valid JSON.`, {
      hint: 'The file was changed or cut after it was recorded. Record it again.',
    });
  }
  return exchangeOf(validated(exchangeSchema, value, `Exchange ${number} of ${path}`), number);
}

function readTail(path: string, text: string): TapeTail | null {
  try {
    return validated(tailSchema, JSON.parse(text), `The end of ${path}`);
  } catch (error) {
    // Cut within its end: as good as interrupted.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const NONE: readonly TapeEntry[] = [];

function createTapeIndex(): TapeIndex {
  const entries: TapeEntry[] = [];
  const exactly = new Map<string, TapeEntry[]>();
  const nearly = new Map<string, TapeEntry[]>();

  return {
    get count() {
      return entries.length;
    },
    add({ request }, entry) {
      const key = matchKey(request);
      entries.push(entry);
      push(exactly, key.exact, entry);
      if (key.nearly !== null) push(nearly, key.nearly, entry);
    },
    settle() {
      for (const list of [entries, ...exactly.values(), ...nearly.values()]) list.sort((a, b) => a.id - b.id);
    },
    entries: () => entries,
    find: (key) => exactly.get(key) ?? NONE,
    findNearly: (key) => nearly.get(key) ?? NONE,
  };
}

function push(map: Map<string, TapeEntry[]>, key: string, entry: TapeEntry): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [entry]);
  else list.push(entry);
}

const BLOCK = 1 << 20;

interface Line {
  offset: number;
  /** Without the line feed. */
  bytes: Buffer;
  /** False for a last line that has no line feed. */
  ended: boolean;
}

/** The lines of an open file; never holds more than a block and the longest line. */
function* readLines(descriptor: number): Generator<Line> {
  let position = 0;
  let offset = 0;
  let rest: Buffer[] = [];
  for (;;) {
    const block = Buffer.allocUnsafe(BLOCK);
    const length = readSync(descriptor, block, 0, BLOCK, position);
    if (length === 0) break;
    position += length;
    let start = 0;
    for (let end = block.indexOf(10); end >= 0 && end < length; end = block.indexOf(10, start)) {
      const line = block.subarray(start, end);
      const bytes = rest.length === 0 ? line : Buffer.concat([...rest, line]);
      yield { offset, bytes, ended: true };
      offset += bytes.length + 1;
      rest = [];
      start = end + 1;
    }
    if (start < length) rest.push(block.subarray(start, length));
  }
  if (rest.length > 0) yield { offset, bytes: Buffer.concat(rest), ended: false };
}
