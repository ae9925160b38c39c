import { createQuery, type Query } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import type { TurnState } from './turn-state.ts';

interface SearchResult {
  context: RetrievalContext;
  /** Whether this conversation had made the same search before; it is not made again. */
  remembered: boolean;
}

/** A search of a turn, told and counted. Throws an AppError when it fails, and the signal's reason when that is raised. */
export async function search(turn: TurnState, wanted: Query, id: string): Promise<SearchResult> {
  const { retriever, searches, record, progress, runtime, signal } = turn;
  const query = createQuery(wanted);
  progress.enter('retrieving');
  progress.emit({
    type: 'retrieval_started',
    retrievalId: id,
    query: query.text,
    topK: query.topK,
    filter: query.filter,
  });
  const started = runtime.elapsedMs();
  try {
    const known = searches.recall(query);
    const context = known ?? (await retriever.retrieve(query, signal)).context;
    searches.remember(query, context);
    turn.judge.readAhead(context.chunks, [turn.question, query.text]);
    progress.emit({ type: 'retrieval_finished', retrievalId: id, context, error: null });
    return { context, remembered: known !== undefined };
  } catch (error) {
    signal?.throwIfAborted();
    const failure =
      error instanceof AppError ? error : new AppError('retrieval_error', messageOf(error), { cause: error });
    record.searchFailed(query, failure);
    progress.emit({
      type: 'retrieval_finished',
      retrievalId: id,
      context: null,
      error: toErrorResponse(failure),
    });
    throw failure;
  } finally {
    record.toolUsed(runtime.elapsedMs() - started);
  }
}
