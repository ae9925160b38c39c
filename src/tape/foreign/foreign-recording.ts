import type { TapeExchange, TapeHeader, TapeJson } from '../tape-format.ts';
import { TAPE_VERSION } from '../tape-format.ts';

/** A recording that others made, as a tape that is not redacted yet. */
export interface ForeignRecording {
  header: TapeHeader;
  exchanges: TapeExchange[];
  outputs: TapeJson;
  /** What could not be carried over, a sentence each. */
  left: string[];
}

interface ForeignExchange {
  /** When it began, in milliseconds since 1970; unknown in some recordings. */
  at?: number | undefined;
  durationMs?: number | undefined;
  request: TapeExchange['request'];
  response?: TapeExchange['response'];
  failure?: TapeExchange['failure'];
}

/** Numbers them, and gives those that ran at the same time lanes of their own. */
export function exchangesOf(foreign: readonly ForeignExchange[]): {
  began: number;
  exchanges: TapeExchange[];
} {
  const first = Math.min(...foreign.flatMap(({ at }) => (at === undefined || Number.isNaN(at) ? [] : [at])));
  const began = Number.isFinite(first) ? first : 0;
  const lanes: number[] = [];
  const exchanges = foreign.map(({ at, durationMs: lasted = 0, ...exchange }, index) => {
    const startedAtMs = Math.max(0, (at || began) - began);
    const durationMs = Math.max(0, lasted);
    const free = lanes.findIndex((until) => until <= startedAtMs);
    const lane = free < 0 ? lanes.length : free;
    lanes[lane] = startedAtMs + durationMs;
    return { id: index + 1, startedAtMs, durationMs, lane, ...exchange };
  });
  return { began, exchanges };
}

export function foreignHeader(
  note: string,
  madeBy: TapeHeader['madeBy'],
  began: number,
  seed: string,
): TapeHeader {
  return {
    version: TAPE_VERSION,
    origin: 'recorded',
    note,
    madeBy,
    createdAt: new Date(began).toISOString(),
    seed,
    model: null,
    command: null,
    inputs: {},
    redact: [],
  };
}

/** Null for what no client of a tape could have asked for. */
export function addressOf(url: unknown): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const { protocol, href } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}
