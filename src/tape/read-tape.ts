import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { advice, viaCommand } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { parseOrThrow } from '../faults/parse-or-throw.ts';
import { isJsonObject, parseJson } from '../text/parse-json.ts';
import {
  notATapeError,
  TAPE_VERSION,
  type TapeExchange,
  type TapeHeader,
  type TapeJson,
  tapeSchema,
  toTapeFileError,
} from './tape-format.ts';

export interface Tape {
  readonly path: string;
  readonly header: TapeHeader;
  /** In the order of the requests. */
  readonly exchanges: readonly TapeExchange[];
  /** Undefined for an interrupted recording. */
  readonly outputs: TapeJson | undefined;
  readonly complete: boolean;
  /** Whether a tape with origin "recorded" was changed after its recording. */
  readonly edited: boolean;
  readonly digest: string | undefined;
}

/** A tape is read whole. */
const MAX_TAPE_MB = 200;
const EXCHANGES_LINE = '\n  "exchanges": [';
const DIGEST_LINE = '\n  "digest": ';

/** Reads a tape of any version. A tape without an end is read up to its last complete exchange. Throws `invalid_input`. */
export function readTape(path: string): Tape {
  const text = readTapeText(path);
  const document = parseJson(text) ?? parseInterrupted(text);
  if (!isJsonObject(document))
    throw notATapeError(path, text.trim() === '' ? 'it is empty' : 'it is not a JSON object');
  const { version } = document;
  if (typeof version !== 'number') throw notATapeError(path, 'it has no version');
  if (version > TAPE_VERSION) {
    throw new AppError('invalid_input', `${path} has format ${version}, made by a newer citeloop.`, {
      hint: `This version reads formats up to ${TAPE_VERSION}. Update citeloop, or record the tape again.`,
    });
  }
  const parsed = parseOrThrow(tapeSchema, document, `The tape ${path}`);
  const { exchanges, outputs, complete, digest, ...header } = parsed;
  const hashed = text.slice(0, text.lastIndexOf(DIGEST_LINE) + 1);
  const isIntact = complete === undefined || digest === createHash('sha256').update(hashed).digest('hex');
  return {
    path,
    header,
    exchanges: exchanges
      .map((exchange, index) => ({ ...exchange, id: exchange.id ?? index + 1 }))
      .sort((a, b) => a.id - b.id),
    outputs,
    complete: complete ?? false,
    edited: header.origin === 'recorded' && !isIntact,
    digest,
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

function readTapeText(path: string): string {
  try {
    if (statSync(path).size <= MAX_TAPE_MB * 1e6) return readFileSync(path, 'utf8');
  } catch (error) {
    throw toTapeFileError('read', path, error);
  }
  throw new AppError('invalid_input', `The tape ${path} is larger than ${MAX_TAPE_MB} MB.`, {
    hint: 'Record fewer questions or documents per tape.',
  });
}

/** Parses a recording without its end. The indentation of a line tells where an exchange ends. */
function parseInterrupted(text: string): unknown {
  const start = text.indexOf(EXCHANGES_LINE);
  if (start < 0) return undefined;
  const [list = ''] = text.slice(start + EXCHANGES_LINE.length).split('\n  ]', 1);
  const lastEnd = list.lastIndexOf('\n    }');
  const exchanges = lastEnd < 0 ? '' : `${list.slice(0, lastEnd)}}`;
  return parseJson(`${text.slice(0, start)}${EXCHANGES_LINE}${exchanges}]}`);
}
