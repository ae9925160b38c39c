import type { AppError } from '../faults/app-error.ts';
import type { Redactor } from '../faults/redactor.ts';
import { EMPTY_REPLAY_CONTEXT, explainMiss, type ReplayContext, toTapeMissError } from './explain-drift.ts';
import { areSameVectors, createMatchKey, type MatchKey } from './match-key.ts';
import type { Tape } from './read-tape.ts';
import { redactRequest } from './redact/redact-exchange.ts';
import type { TapeExchange, TapeRequest } from './tape-format.ts';

/** Bounds the time to find a request with embeddings. */
const MAX_VECTOR_CANDIDATES = 50;

export interface ReplayCounts {
  /** Exchanges of the tape that were used. */
  used: number;
  /** Requests that were made more often than recorded. */
  repeated: number;
  missed: number;
}

/** Finds recorded exchanges for requests. */
export interface ExchangeFinder {
  /** Equal requests get their exchanges in recorded order, then the last one again. Null if there is none. */
  find(request: TapeRequest): TapeExchange | null;
  /** Counts and explains a miss. */
  miss(request: TapeRequest): { reason: string; error: AppError };
  counts(): ReplayCounts;
}

export function createExchangeFinder(
  tape: Tape,
  redactor: Redactor,
  context: () => ReplayContext = () => EMPTY_REPLAY_CONTEXT,
): ExchangeFinder {
  const keyed = tape.exchanges.map((exchange) => ({ exchange, ...createMatchKey(exchange.request) }));
  const byExactKey = Map.groupBy(keyed, ({ exact }) => exact);
  const byNearKey = Map.groupBy(keyed, ({ nearly }) => nearly);
  const used = new Set<number>();
  let repeated = 0;
  let missed = 0;

  function take(candidates: typeof keyed = []): TapeExchange | null {
    const { exchange } = candidates.find((each) => !used.has(each.exchange.id)) ?? candidates.at(-1) ?? {};
    if (exchange === undefined) return null;
    if (used.has(exchange.id)) repeated += 1;
    used.add(exchange.id);
    return exchange;
  }

  function findByKey({ exact, nearly, vectors }: MatchKey): TapeExchange | null {
    const found = take(byExactKey.get(exact));
    if (found !== null || nearly === null) return found;
    const candidates = byNearKey.get(nearly)?.slice(0, MAX_VECTOR_CANDIDATES);
    return take(candidates?.filter((each) => areSameVectors(each.vectors, vectors)));
  }

  return {
    find(request) {
      // Redaction takes longer than the lookup, and most requests contain no secret.
      return (
        findByKey(createMatchKey(request)) ?? findByKey(createMatchKey(redactRequest(request, redactor)))
      );
    },
    miss(request) {
      missed += 1;
      const miss = explainMiss(redactRequest(request, redactor), tape, context());
      return { reason: miss.reason, error: toTapeMissError(miss, tape.path) };
    },
    counts: () => ({ used: used.size, repeated, missed }),
  };
}
