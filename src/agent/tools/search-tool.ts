import * as z from 'zod';
import type { ToolName } from '../../domain/agent-config.ts';
import { AppError, messageOf } from '../../domain/app-error.ts';
import type { Filter } from '../../domain/filter.ts';
import { type RetrievalContext, trimToBudget } from '../../domain/retrieval-context.ts';
import {
  failedToolResponse,
  type RetrievalToolResponse,
  repeatedToolResponse,
  toToolResponse,
} from '../../domain/retrieval-tool-response.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import type { Searched } from '../session-retrieval.ts';
import { passageWindow } from './passage-window.ts';
import { searchArgumentsSchema } from './search-arguments.ts';

export const searchDescriptions: Record<ToolName, string> = {
  search_docs: "Search the user's documents. Returns the best part of each passage with refs to cite.",
  retrieve_context: "Retrieve whole passages of the user's documents, with refs to cite.",
};

export interface SearchExecutorOptions {
  toolName: ToolName;
  topK: number;
  /** Holds for every search, whatever the model asks for. */
  filter: Filter;
  /** Tokens that the results of one turn may take together. */
  tokenBudget: number;
  search(
    query: { text: string; topK: number; filter: Filter },
    callId: string,
    signal?: AbortSignal,
  ): Promise<Searched>;
  refOf(chunk: RetrievedChunk): string;
  /** Hears of what is handed to the model. */
  onRetrieved(context: RetrievalContext): void;
  /** Whether the model will be able to search once more. */
  mayGoOn(): boolean;
  elapsedMs(): number;
}

/**
 * Runs a search for the model. Throws when aborted, and what only a person can mend: a wrong key or setting. Whatever
 * else goes wrong is a result that the model can act on.
 */
export type SearchExecutor = (
  args: unknown,
  callId: string,
  signal?: AbortSignal,
) => Promise<RetrievalToolResponse>;

/** The executor of one turn. */
export function createSearchExecutor(options: SearchExecutorOptions): SearchExecutor {
  const { toolName, search, refOf, onRetrieved, mayGoOn, elapsedMs } = options;
  const askedThisTurn = new Set<string>();
  const shownThisTurn = new Set<string>();
  let tokensLeft = options.tokenBudget;

  return async (args, callId, signal) => {
    const started = elapsedMs();
    const parsed = searchArgumentsSchema.safeParse(args);
    if (!parsed.success) {
      const fault = z.prettifyError(parsed.error).replace(/\s*\n\s*/g, ' ');
      return failedToolResponse('', `Invalid arguments: ${fault}. Call the tool again with valid ones.`, 0);
    }
    const { query, top_k, module } = parsed.data;
    const filter = module == null ? options.filter : { ...options.filter, module: [module] };
    const key = JSON.stringify([query.toLowerCase(), top_k, filter]);
    if (askedThisTurn.has(key)) return repeatedToolResponse(query);
    askedThisTurn.add(key);
    try {
      const topK = top_k ?? options.topK;
      const { context, remembered } = await search({ text: query, topK, filter }, callId, signal);
      const fitting = trimToBudget(context, tokensLeft);
      tokensLeft -= fitting.totalTokens;
      onRetrieved(fitting);
      const response = toToolResponse(fitting, toolName, refOf, (text, max) =>
        passageWindow(text, query, max),
      );
      return { ...response, message: remarks(response.message, fitting, remembered) };
    } catch (error) {
      signal?.throwIfAborted();
      if (isForThePerson(error)) throw error;
      return failedToolResponse(query, `The search failed: ${messageOf(error)}`, elapsedMs() - started);
    }
  };

  function remarks(message: string | null, { chunks }: RetrievalContext, remembered: boolean): string | null {
    const isNew = chunks.some(({ chunkId }) => !shownThisTurn.has(chunkId));
    for (const { chunkId } of chunks) shownThisTurn.add(chunkId);
    const sentences = [
      message,
      remembered ? 'This search was made before in this conversation; the results are the same.' : null,
      chunks.length > 0 && !isNew
        ? 'All of these results were returned before; searching on adds nothing.'
        : null,
      mayGoOn() ? null : 'This was the last search of this turn: answer with what you have.',
    ].filter((sentence) => sentence !== null);
    return sentences.length === 0 ? null : sentences.join(' ');
  }
}

function isForThePerson(error: unknown): boolean {
  return error instanceof AppError && (error.kind === 'auth_error' || error.kind === 'configuration_error');
}
