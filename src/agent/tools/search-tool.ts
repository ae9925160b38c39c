import { type Tool, tool } from '@openai/agents-core';
import * as z from 'zod';
import type { ToolName } from '../../domain/agent-config.ts';
import type { RetrievalContext } from '../../domain/retrieval-context.ts';
import {
  failedToolResponse,
  MAX_RESULT_TEXT,
  type RetrievalToolResponse,
  repeatedToolResponse,
  toToolResponse,
} from '../../domain/retrieval-tool-response.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { passageWindow } from '../../text/passage-window.ts';
import { search } from '../search.ts';
import { mayUseTools, type TurnState } from '../turn-state.ts';
import { checkArguments, type StrictSchema, strictSchema } from './tool-arguments.ts';

export const searchDescriptions: Record<ToolName, string> = {
  search_docs: "Search the user's documents. Returns the best part of each passage with refs to cite.",
  retrieve_context: "Retrieve whole passages of the user's documents, with refs to cite.",
};

const MAX_TOP_K = 20;
/** More modules than these are not listed for the model to choose from. */
const MOST_LISTED = 20;

/** What the model may ask of the search. Models leave out or null what they do not need. */
export function searchArguments(modules: readonly string[] = []) {
  const listed = modules.length > 0 && modules.length <= MOST_LISTED;
  const module = listed ? z.enum(modules) : z.string().trim().min(1);
  return z.strictObject({
    query: z.string().trim().min(1).max(1000).describe('What to look for, as a question or key words.'),
    top_k: z.int().min(1).max(MAX_TOP_K).nullish().describe(`How many passages, 1 to ${MAX_TOP_K}.`),
    module: module.nullish().describe('Only documents of this module.'),
    threshold: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .describe('Only passages with this score or more, 0 to 1; null for the usual one.'),
  });
}

/**
 * The search of one turn as the SDK takes it. Arguments are checked here, by the schema that the model sees, so that it
 * is told what was wrong with them; the SDK would keep that to itself.
 */
export function createSearchTool(turn: TurnState): Tool {
  const { toolName } = turn.config;
  // A filter of the person holds for every search: within it, the model may choose.
  const { schema, parameters } = schemasFor(turn.filter.module ?? turn.modules);
  const searchForModel = createModelSearch(turn, schema);
  return tool({
    name: toolName,
    description: searchDescriptions[toolName],
    strict: true,
    parameters,
    isEnabled: () => mayUseTools(turn),
    errorFunction: endTurn,
    execute: async (args, _context, details) =>
      JSON.stringify(await searchForModel(args, details?.toolCall?.callId ?? turn.runtime.newId())),
  });
}

/** The same modules make the same schemas, turn after turn: the last ones are kept. */
let kept: { modules: string; schema: ReturnType<typeof searchArguments>; parameters: StrictSchema } | null =
  null;

function schemasFor(modules: readonly string[]) {
  const key = JSON.stringify(modules);
  if (kept?.modules !== key) {
    const schema = searchArguments(modules);
    kept = { modules: key, schema, parameters: strictSchema(schema) };
  }
  return kept;
}

/**
 * Throws when the turn is aborted, and what only a person can mend: a wrong key or setting. Whatever else goes wrong is
 * a result that the model can act on.
 */
function createModelSearch(turn: TurnState, schema: ReturnType<typeof searchArguments>) {
  const { config, runtime, searches, record, room, sources, signal } = turn;
  const shownInTurn = new Set<string>();

  return async (args: unknown, callId: string): Promise<RetrievalToolResponse> => {
    const started = runtime.elapsedMs();
    const checked = checkArguments(schema, args);
    if (!checked.success) return failedToolResponse('invalid_arguments', checked.fault);
    const { query: text, top_k, module, threshold } = checked.data;
    const query = {
      text,
      topK: top_k ?? config.topK,
      filter: module == null ? turn.filter : { ...turn.filter, module: [module] },
      ...(threshold != null && { scoreThreshold: threshold }),
    };
    if (searches.asksAgain(query)) return repeatedToolResponse(text);
    try {
      const { context, remembered } = await search(turn, query, callId);
      const shown = room.show(
        context,
        config.toolName === 'search_docs'
          ? { textOf: (chunk) => passageWindow(chunk.text, text, MAX_RESULT_TEXT) }
          : {},
      );
      record.retrieved(shown.context);
      const response = toToolResponse(shown, sources.register);
      return { ...response, message: remarks(response.message, shown.context, remembered) };
    } catch (error) {
      signal?.throwIfAborted();
      if (isForThePerson(error)) throw error;
      return failedToolResponse('retrieval_failed', `The search failed: ${messageOf(error)}`, {
        query: text,
        elapsedMs: runtime.elapsedMs() - started,
      });
    }
  };

  function remarks(message: string | null, { chunks }: RetrievalContext, remembered: boolean): string | null {
    const isNew = chunks.some(({ chunkId }) => !shownInTurn.has(chunkId));
    for (const { chunkId } of chunks) shownInTurn.add(chunkId);
    const sentences = [
      message,
      remembered ? 'This search was made before in this conversation; the results are the same.' : null,
      chunks.length > 0 && !isNew
        ? 'All of these results were returned before; searching on adds nothing.'
        : null,
      mayUseTools(turn) ? null : 'This was the last search of this turn: answer with what you have.',
    ].filter((sentence) => sentence !== null);
    return sentences.length === 0 ? null : sentences.join(' ');
  }
}

function isForThePerson(error: unknown): boolean {
  return error instanceof AppError && (error.kind === 'auth_error' || error.kind === 'configuration_error');
}

/** All that the model can act on is a result already. */
function endTurn(_context: unknown, error: unknown): never {
  throw error;
}
