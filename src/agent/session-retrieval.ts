import { AppError, messageOf } from '../domain/app-error.ts';
import { toErrorResponse } from '../domain/error-response.ts';
import { createQuery, type Query } from '../domain/query.ts';
import type { RetrievalContext } from '../domain/retrieval-context.ts';
import type { RunEvent } from '../domain/run-event.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';

/** Remembered queries; a session that asks more different ones forgets the oldest. */
const MAX_REMEMBERED = 200;

/** Searches of one session: the same query twice is answered from memory. */
export interface SessionRetrieval {
  /** Emits the events of a search. Throws an AppError when it fails. */
  search(query: Query, id: string, emit: (event: RunEvent) => void, signal?: AbortSignal): Promise<Searched>;
}

export interface Searched {
  context: RetrievalContext;
  /** Whether this session had made the same search before. */
  remembered: boolean;
}

export function createSessionRetrieval(retriever: Retriever): SessionRetrieval {
  const memory = new Map<string, RetrievalContext>();

  return {
    async search(query, id, emit, signal) {
      const { text, topK, filter } = createQuery(query);
      emit({ type: 'retrieval_started', retrievalId: id, query: text, topK, filter });
      const key = JSON.stringify([text.toLowerCase().replace(/\s+/g, ' '), topK, filter]);
      try {
        const known = memory.get(key);
        const context = known ?? (await retriever.retrieve({ text, topK, filter }, signal)).context;
        memory.set(key, context);
        const [oldest] = memory.keys();
        if (memory.size > MAX_REMEMBERED && oldest !== undefined) memory.delete(oldest);
        emit({ type: 'retrieval_finished', retrievalId: id, context, error: null });
        return { context, remembered: known !== undefined };
      } catch (error) {
        signal?.throwIfAborted();
        const failure =
          error instanceof AppError
            ? error
            : new AppError('retrieval_error', messageOf(error), { cause: error });
        emit({ type: 'retrieval_finished', retrievalId: id, context: null, error: toErrorResponse(failure) });
        throw failure;
      }
    },
  };
}
