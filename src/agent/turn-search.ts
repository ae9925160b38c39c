import { createQuery, type Query } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import type { TurnJudge } from './turn-judge.ts';
import type { TurnEvents, TurnRecord } from './turn-record.ts';

/** A conversation with more different searches forgets the oldest. */
const MAX_REMEMBERED_SEARCHES = 200;

/**
 * The searches of one conversation. Two searches are the same if only case and white space of their text differ, and
 * limit, filter and threshold are equal.
 */
export class SearchMemory {
  readonly #contexts = new Map<string, RetrievalContext>();
  readonly #madeInTurn = new Set<string>();

  beginTurn(): void {
    this.#madeInTurn.clear();
  }

  /** Marks a search as made in this turn; true if it already was. */
  markRepeated(query: Query): boolean {
    const key = searchKey(query);
    if (this.#madeInTurn.has(key)) return true;
    this.#madeInTurn.add(key);
    return false;
  }

  recall(query: Query): RetrievalContext | undefined {
    return this.#contexts.get(searchKey(query));
  }

  remember(query: Query, context: RetrievalContext): void {
    this.#contexts.set(searchKey(query), context);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size > MAX_REMEMBERED_SEARCHES && oldest !== undefined) this.#contexts.delete(oldest);
  }
}

function searchKey({ text, topK, filter, scoreThreshold }: Query): string {
  return JSON.stringify([text.trim().toLowerCase().replace(/\s+/g, ' '), topK, filter, scoreThreshold]);
}

/**
 * Runs a search of a turn: emits its events, counts it, and lets the judge read the passages ahead. The second value says
 * whether the result comes from an earlier turn. Throws an AppError if the search fails, and the signal's reason.
 */
export type TurnSearch = (query: Query, retrievalId: string) => Promise<[RetrievalContext, boolean]>;

interface TurnSearchOptions {
  question: string;
  retriever: Retriever;
  memory: SearchMemory;
  record: TurnRecord;
  events: TurnEvents;
  judge: TurnJudge;
  runtime: Runtime;
  signal: AbortSignal;
}

export function createTurnSearch(options: TurnSearchOptions): TurnSearch {
  const { retriever, memory, record, events, judge, runtime, signal } = options;
  return async (given, retrievalId) => {
    const query = createQuery(given);
    const { text, topK, filter } = query;
    events.enterPhase('retrieving');
    events.emit({ type: 'retrieval_started', retrievalId, query: text, topK, filter });
    const started = runtime.elapsedMs();
    try {
      const known = memory.recall(query);
      const context = known ?? (await retriever.retrieve(query, signal)).context;
      memory.remember(query, context);
      judge.readAhead(context.chunks, [options.question, text]);
      events.emit({ type: 'retrieval_finished', retrievalId, context, error: null });
      return [context, known !== undefined];
    } catch (error) {
      signal.throwIfAborted();
      const failure =
        error instanceof AppError
          ? error
          : new AppError('retrieval_error', messageOf(error), { cause: error });
      record.addFailedSearch(query, failure);
      const response = toErrorResponse(failure);
      events.emit({ type: 'retrieval_finished', retrievalId, context: null, error: response });
      throw failure;
    } finally {
      record.countToolUse(runtime.elapsedMs() - started);
    }
  };
}
