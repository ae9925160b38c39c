import type { AppError } from '../faults/app-error.ts';
import type { Redactor } from '../faults/redactor.ts';
import {
  EMPTY_REPLAY_CONTEXT,
  explainMiss,
  type ReplayContext,
  type TapeMiss,
  toMissError,
} from './explain-drift.ts';
import { type MatchKey, matchKey, sameVectors } from './match-key.ts';
import type { Tape, TapeEntry } from './open-tape.ts';
import { redactRequest } from './redact/redact-exchange.ts';
import type { TapeExchange, TapeRequest } from './tape-format.ts';

/** Embeddings that are compared one by one before a request counts as another one. */
const MOST_COMPARED = 50;

export interface PlayedCounts {
  /** Different exchanges of the tape that were used. */
  used: number;
  /** Requests that were made more often than recorded, and got their last answer again. */
  repeated: number;
  missed: number;
}

/** Finds the answers to requests on a tape. */
export interface TapePlayer {
  /** The recorded exchange, in the order of recording for equal requests, then the last of them again. */
  find(request: TapeRequest): TapeExchange | null;
  /** Says what comes nearest. */
  miss(request: TapeRequest): { miss: TapeMiss; error: AppError };
  counts(): PlayedCounts;
  /** The ids of the exchanges that nothing has asked for. */
  unused(): number[];
}

export function createTapePlayer(
  tape: Tape,
  redactor: Redactor,
  context: () => ReplayContext = () => EMPTY_REPLAY_CONTEXT,
): TapePlayer {
  /** How often the entries of a list were given. The lists belong to the index: one for each request. */
  const given = new Map<readonly TapeEntry[], number>();
  const used = new Set<number>();
  let repeated = 0;
  let missed = 0;

  function next(list: readonly TapeEntry[]): TapeExchange | null {
    const count = given.get(list) ?? 0;
    const entry = list[Math.min(count, list.length - 1)];
    if (entry === undefined) return null;
    given.set(list, count + 1);
    return take(entry);
  }

  function take(entry: TapeEntry): TapeExchange {
    if (used.has(entry.id)) repeated += 1;
    used.add(entry.id);
    return tape.read(entry);
  }

  function nearly(key: string, vectors: readonly number[][]): TapeExchange | null {
    const same = tape
      .findNearly(key)
      .slice(0, MOST_COMPARED)
      .filter((entry) => sameVectors(matchKey(tape.read(entry).request).vectors, vectors));
    const entry = same.find(({ id }) => !used.has(id)) ?? same.at(-1);
    return entry === undefined ? null : take(entry);
  }

  function lookUp({ exact, nearly: key, vectors }: MatchKey): TapeExchange | null {
    return next(tape.find(exact)) ?? (key === null ? null : nearly(key, vectors));
  }

  return {
    find(request) {
      // Most requests hold nothing that had to be removed, and looking for it takes longer than looking them up.
      return lookUp(matchKey(request)) ?? lookUp(matchKey(redactRequest(request, redactor)));
    },
    miss(request) {
      missed += 1;
      const miss = explainMiss(redactRequest(request, redactor), tape, context());
      return { miss, error: toMissError(miss, tape.path) };
    },
    counts: () => ({ used: used.size, repeated, missed }),
    unused() {
      const ids: number[] = [];
      for (const { id } of tape.exchanges()) if (!used.has(id)) ids.push(id);
      return ids;
    },
  };
}
