import { createQuery, type Query } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import type { TurnJudge } from './turn-judge.ts';
import type { TurnEvents, TurnRecord } from './turn-record.ts';

/**
 * Runs a search of a turn: emits its events, counts it, and lets the judge read the passages ahead. Throws an AppError if
 * the search fails, and the signal's reason.
 */
export type TurnSearch = (query: Query, retrievalId: string) => Promise<RetrievalContext>;

interface TurnSearchOptions {
  question: string;
  retriever: Retriever;
  record: TurnRecord;
  events: TurnEvents;
  judge: TurnJudge;
  runtime: Runtime;
  signal: AbortSignal;
}

export function createTurnSearch(options: TurnSearchOptions): TurnSearch {
  const { retriever, record, events, judge, runtime, signal } = options;
  return async (given, retrievalId) => {
    const query = createQuery(given);
    const { text, topK, filter } = query;
    events.enterPhase('retrieving');
    events.emit({ type: 'retrieval_started', retrievalId, query: text, topK, filter });
    const started = runtime.elapsedMs();
    try {
      const { context } = await retriever.retrieve(query, signal);
      judge.readAhead(context.chunks, [options.question, text]);
      events.emit({ type: 'retrieval_finished', retrievalId, context, error: null });
      return context;
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
