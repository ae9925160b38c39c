import { isLocalModel } from '../domain/agent-config.ts';
import { createQuery } from '../domain/query.ts';
import { createRetrievalContext, type RetrievalContext } from '../domain/retrieval-context.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import type { ConversationStore } from '../ports/chunk-store.ts';
import type { Retriever } from '../retrieval/create-retriever.ts';
import { endsWithLeadIn } from '../text/passage-window.ts';
import type { ToolContext, TurnSearch } from './document-tools.ts';
import type { TurnEvents } from './turn-record.ts';

interface TurnSearchOptions extends Pick<ToolContext, 'config' | 'record' | 'runtime' | 'signal'> {
  store: Pick<ConversationStore, 'neighbours'>;
  retriever: Retriever;
  events: TurnEvents;
}

/** Searches for a turn: emits events, counts the search and records a failure, which it throws. */
export function createTurnSearch(options: TurnSearchOptions): TurnSearch {
  const { config, store, retriever, record, events, runtime, signal } = options;
  return async (given, retrievalId) => {
    const query = createQuery(given);
    const { text, topK, filter } = query;
    events.enterPhase('retrieving');
    events.emit({ type: 'retrieval_started', retrievalId, query: text, topK, filter });
    const started = runtime.elapsedMs();
    try {
      const { context: found } = await retriever.retrieve(query, signal);
      // The offline model reads around its results.
      const context = isLocalModel(config.model) ? found : await addIntroducedChunks(found, store);
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

/** Adds the next chunk of each that ends with a lead-in, such as "Run this command:". */
async function addIntroducedChunks(
  found: RetrievalContext,
  store: Pick<ConversationStore, 'neighbours'>,
): Promise<RetrievalContext> {
  const known = new Set(found.chunks.map(({ chunkId }) => chunkId));
  const chunks: typeof found.chunks = [];
  for (const chunk of found.chunks) {
    chunks.push(chunk);
    if (!endsWithLeadIn(chunk.text)) continue;
    const around = await store.neighbours(chunk.chunkId, 0, 1);
    const next = around.find(({ chunkIndex }) => chunkIndex === chunk.chunkIndex + 1);
    if (next === undefined || known.has(next.chunkId)) continue;
    known.add(next.chunkId);
    chunks.push({ ...next, score: chunk.score, rank: chunk.rank });
  }
  return chunks.length === found.chunks.length ? found : createRetrievalContext({ ...found, chunks });
}
