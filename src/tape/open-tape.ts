import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { advice, viaCommand } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { parseOrThrow } from '../faults/parse-or-throw.ts';
import { isJsonObject, parseJson } from '../text/parse-json.ts';
import { createMatchKey, type MatchKey } from './match-key.ts';
import { parseStoredExchange } from './serialize-exchange.ts';
import {
  notATapeError,
  type StoredExchange,
  TAPE_VERSION,
  type TapeExchange,
  type TapeHeader,
  type TapeTail,
  tapeExchangeSchema,
  tapeHeaderSchema,
  tapeTailSchema,
  toTapeFileError,
} from './tape-format.ts';

/** Position of an exchange in its file, or its index in a tape that is kept in memory. */
export interface ExchangeLocation {
  id: number;
  offset: number;
  length: number;
}

/** An open tape. Of a recorded tape only an index is in memory; exchanges are read from the file on demand. */
export interface Tape extends Disposable {
  readonly path: string;
  readonly header: TapeHeader;
  /** Null for an interrupted recording. */
  readonly tail: TapeTail | null;
  readonly complete: boolean;
  /** Whether a tape with origin "recorded" was changed after its recording. */
  readonly edited: boolean;
  readonly count: number;
  /** In the order of the requests. */
  entries(): readonly ExchangeLocation[];
  /** Exchanges with this exact match key, in order. Takes constant time. */
  find(exact: string): readonly ExchangeLocation[];
  /** Exchanges that are equal except for the numbers of their embeddings. */
  findNearly(nearly: string): readonly ExchangeLocation[];
  read(entry: ExchangeLocation): TapeExchange;
  /** In the order of the requests. */
  exchanges(): Iterable<TapeExchange>;
  close(): void;
}

interface TapeContent {
  header: TapeHeader;
  tail: TapeTail | null;
  /** In the order of the file. */
  entries: IndexedExchange[];
  /** Offset of the line with the digest; null if there is none. */
  digestOffset: number | null;
  read(entry: ExchangeLocation): TapeExchange;
}

const EXCHANGES_LINE = '  "exchanges": [';
const EXCHANGES_END = /^ {2}\],?$/;
const DIGEST_LINE = '  "digest": ';
const EXCHANGE_START = '    {';
const EXCHANGE_END = /^ {4}\},?$/;

/** Opens a tape of any version. A tape without an end is read up to its last complete exchange. Throws `invalid_input`. */
export function openTape(path: string): Tape {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return createTape(path, file, scanTape(path, file) ?? parseTape(path));
  } catch (error) {
    if (file !== undefined) closeSync(file);
    throw toTapeFileError('read', path, error);
  }
}

function createTape(path: string, file: number, content: TapeContent): Tape {
  const { header, tail, digestOffset, read } = content;
  const entries = content.entries.toSorted((a, b) => a.id - b.id);
  const exact = Map.groupBy(entries, (entry) => entry.exact);
  const nearly = Map.groupBy(entries, (entry) => entry.nearly);
  const isIntact = tail === null || (digestOffset !== null && tail.digest === hashStart(file, digestOffset));
  const close = () => closeSync(file);
  return {
    path,
    header,
    tail,
    complete: tail?.complete ?? false,
    edited: header.origin === 'recorded' && !isIntact,
    count: entries.length,
    entries: () => entries,
    find: (key) => exact.get(key) ?? [],
    findNearly: (key) => nearly.get(key) ?? [],
    read,
    *exchanges() {
      for (const entry of entries) yield read(entry);
    },
    close,
    [Symbol.dispose]: close,
  };
}

/** Throws `invalid_input`. */
export function assertUnedited({ edited, path }: Tape): void {
  if (!edited) return;
  throw new AppError('invalid_input', `${path} was edited after it was recorded.`, {
    hint: 'Record it again. To keep the edit, set its "origin" to "written by hand".',
  });
}

/** Throws `invalid_input`. */
export function assertComplete({ complete, path }: Tape): void {
  if (complete) return;
  throw new AppError('invalid_input', `${path} is incomplete: its recording was interrupted.`, {
    hint: advice`Record it again. To look at it${viaCommand(`tape show ${path}`)}`,
  });
}

/** Indexes a tape in the layout of recordings; null if it has another layout. */
function scanTape(path: string, file: number): TapeContent | null {
  const head: string[] = [];
  let header: TapeHeader | undefined;
  const entries: IndexedExchange[] = [];
  let start: number | null = null;
  let end: string[] | null = null;
  let digestOffset: number | null = null;
  for (const { offset, bytes, terminated } of readLines(file)) {
    // Lines inside an exchange may be long, and only its last one matters.
    const line = start === null || bytes.length <= EXCHANGE_START.length + 1 ? bytes.toString('utf8') : '';
    if (header === undefined) {
      head.push(line);
      if (line === EXCHANGES_LINE) header = parseHeader(path, parseObject(path, `${head.join('\n')}]}`));
    } else if (end !== null) {
      if (line.startsWith(DIGEST_LINE)) digestOffset = offset;
      end.push(line);
    } else if (start !== null) {
      if (!EXCHANGE_END.test(line)) continue;
      const length: number = offset + EXCHANGE_START.length - start;
      const exchange = parseExchange(path, textAt(file, start, length), entries.length + 1);
      entries.push(indexExchange(exchange, start, length));
      start = null;
    } else if (line === EXCHANGE_START) start = offset;
    else if (EXCHANGES_END.test(line)) end = [];
    else if (terminated) return null;
  }
  if (header === undefined) return null;
  return {
    header,
    tail: parseTail(path, parseJson(`{${(end ?? []).join('\n')}`)),
    entries,
    digestOffset,
    read: ({ id, offset, length }) =>
      parseStoredExchange(JSON.parse(textAt(file, offset, length)) as StoredExchange, id),
  };
}

/** Reads a tape in any other layout into memory: of format 1, or written by hand. */
function parseTape(path: string): TapeContent {
  const bytes = readFileSync(path);
  const document = parseObject(path, bytes.toString('utf8'));
  const { exchanges = [], outputs, complete, digest, ...fields } = document;
  const header = parseHeader(path, fields);
  if (!Array.isArray(exchanges)) throw notATapeError(path, 'its "exchanges" are not a list');
  const parsed = exchanges.map((each, number) =>
    parseStoredExchange(
      parseOrThrow(tapeExchangeSchema, each, `Exchange ${number + 1} of ${path}`),
      number + 1,
    ),
  );
  const digestLine = bytes.lastIndexOf(`\n${DIGEST_LINE}`);
  return {
    header,
    tail: complete === undefined ? null : parseTail(path, { outputs, complete, digest }),
    entries: parsed.map((exchange, offset) => indexExchange(exchange, offset, 0)),
    digestOffset: digestLine < 0 ? null : digestLine + 1,
    read: ({ offset }) => parsed[offset] as TapeExchange,
  };
}

function parseObject(path: string, text: string): Record<string, unknown> {
  const document = parseJson(text);
  if (isJsonObject(document)) return document;
  throw notATapeError(path, text.trim() === '' ? 'it is empty' : 'it is not a JSON object');
}

function parseHeader(path: string, fields: Record<string, unknown>): TapeHeader {
  const { version } = fields;
  if (typeof version !== 'number') throw notATapeError(path, 'it has no version');
  if (version > TAPE_VERSION) {
    throw new AppError('invalid_input', `${path} has format ${version}, made by a newer citeloop.`, {
      hint: `This version reads formats up to ${TAPE_VERSION}. Update citeloop, or record the tape again.`,
    });
  }
  return parseOrThrow(tapeHeaderSchema, fields, `The tape ${path}`);
}

function parseExchange(path: string, text: string, number: number): TapeExchange {
  const name = `Exchange ${number} of ${path}`;
  const value = parseJson(text);
  if (value !== undefined) return parseStoredExchange(parseOrThrow(tapeExchangeSchema, value, name), number);
  throw new AppError('invalid_input', `${name} is not valid JSON.`, {
    hint: 'The file was edited or damaged after it was recorded. Record it again.',
  });
}

/** Null for undefined: an interrupted recording may end within it. */
function parseTail(path: string, value: unknown): TapeTail | null {
  return value === undefined ? null : parseOrThrow(tapeTailSchema, value, `The end of ${path}`);
}

interface IndexedExchange extends ExchangeLocation, Pick<MatchKey, 'exact' | 'nearly'> {}

function indexExchange({ id, request }: TapeExchange, offset: number, length: number): IndexedExchange {
  const { exact, nearly } = createMatchKey(request);
  return { id, offset, length, exact, nearly };
}

const BLOCK_SIZE = 1 << 20;

/** Holds at most one block and the longest line in memory. A last line without a line feed is not `terminated`. */
function* readLines(file: number) {
  let offset = 0;
  let rest: Buffer[] = [];
  for (const block of readBlocks(file)) {
    let start = 0;
    for (let end = block.indexOf(10); end >= 0; end = block.indexOf(10, start)) {
      const bytes = Buffer.concat([...rest, block.subarray(start, end)]);
      yield { offset, bytes, terminated: true };
      offset += bytes.length + 1;
      rest = [];
      start = end + 1;
    }
    if (start < block.length) rest.push(block.subarray(start));
  }
  if (rest.length > 0) yield { offset, bytes: Buffer.concat(rest), terminated: false };
}

function* readBlocks(file: number, limit = Number.POSITIVE_INFINITY): Generator<Buffer> {
  for (let position = 0; position < limit; ) {
    const block = Buffer.allocUnsafe(Math.min(BLOCK_SIZE, limit - position));
    const length = readSync(file, block, 0, block.length, position);
    if (length === 0) return;
    position += length;
    yield block.subarray(0, length);
  }
}

function hashStart(file: number, length: number): string {
  const hash = createHash('sha256');
  for (const block of readBlocks(file, length)) hash.update(block);
  return hash.digest('hex');
}

function textAt(file: number, offset: number, length: number): string {
  const bytes = Buffer.allocUnsafe(length);
  readSync(file, bytes, 0, length, offset);
  return bytes.toString('utf8');
}
