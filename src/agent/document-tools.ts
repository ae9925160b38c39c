import { type Tool, tool } from '@openai/agents-core';
import * as z from 'zod';
import type { SourceRegister } from '../citations/source-register.ts';
import type { AgentConfig, ToolName } from '../domain/agent-config.ts';
import type { Filter, Query } from '../domain/query.ts';
import { createRetrievalContext, type RetrievalContext } from '../domain/retrieval-context.ts';
import {
  failedToolResponse,
  MAX_RESULT_CHARACTERS,
  type RetrievalToolResponse,
  repeatedToolResponse,
  toToolResponse,
} from '../domain/retrieval-tool-response.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { Runtime } from '../ports/runtime.ts';
import { memoizeBy } from '../text/memoize.ts';
import { selectPassageWindow } from '../text/passage-window.ts';
import { READ_SOURCE_TOOL } from './agent.ts';
import type { PassageBudget } from './context-budget.ts';
import { checkArguments, toStrictSchema } from './tool-arguments.ts';
import type { TurnRecord } from './turn-record.ts';

/**
 * Runs a search of a turn: emits its events, counts it. Throws an AppError if
 * the search fails, and the signal's reason.
 */
export type TurnSearch = (query: Query, retrievalId: string) => Promise<RetrievalContext>;

/** What both tools of a turn use. */
export interface ToolContext {
  config: AgentConfig;
  record: TurnRecord;
  passages: PassageBudget;
  sources: SourceRegister;
  runtime: Runtime;
  signal: AbortSignal;
}

/** Whether the model has tools in the next step: the last of `maxSteps` has none, so that it must answer. */
function hasStepsLeft({ record, config }: ToolContext): boolean {
  return record.step + 1 < config.maxSteps;
}

export const searchDescriptions: Record<ToolName, string> = {
  search_docs: "Search the user's documents. Returns the best part of each passage with refs to cite.",
  retrieve_context: "Retrieve whole passages of the user's documents, with refs to cite.",
};

const MAX_TOP_K = 20;
/** With more modules than these, the schema does not list them. */
const MAX_LISTED_MODULES = 20;

/** The arguments of the search tool. Models leave out or null what they do not need. */
export function searchArguments(modules: readonly string[] = []) {
  const isListed = modules.length > 0 && modules.length <= MAX_LISTED_MODULES;
  const module = isListed ? z.enum(modules) : z.string().trim().min(1);
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

/** Both forms of the arguments. They are kept, because turns of a session have the same modules. */
const searchParameters = memoizeBy(
  { size: 16 },
  (modules: readonly string[]) => JSON.stringify(modules),
  (modules) => {
    const schema = searchArguments(modules);
    return { schema, parameters: toStrictSchema(schema) };
  },
);

interface SearchToolOptions {
  search: TurnSearch;
  /** The modules of the collection, to choose from. */
  modules: readonly string[];
  /** Applies to every search of the turn; the model may only narrow it. */
  filter: Filter;
}

/** The search tool of one turn. Validates arguments itself, because the SDK does not tell the model what was wrong. */
export function createSearchTool(context: ToolContext, options: SearchToolOptions): Tool {
  const { toolName } = context.config;
  const { schema, parameters } = searchParameters(options.filter.module ?? options.modules);
  const madeSearches = new Set<string>();
  const shownChunkIds = new Set<string>();
  return tool({
    name: toolName,
    description: searchDescriptions[toolName],
    strict: true,
    parameters,
    isEnabled: () => hasStepsLeft(context),
    // Errors that the model can act on are results already; the rest end the turn.
    errorFunction: (_context, error) => {
      throw error;
    },
    async execute(args, _context, details) {
      const callId = details?.toolCall?.callId ?? context.runtime.newId();
      const checked = checkArguments(schema, args);
      const response = checked.success
        ? await searchForModel(checked.data, callId)
        : failedToolResponse('invalid_arguments', checked.error);
      return JSON.stringify(response);
    },
  });

  /** Throws when the turn is aborted, and errors that only the user can fix. */
  async function searchForModel(
    { query: text, top_k, module, threshold }: z.infer<typeof schema>,
    callId: string,
  ): Promise<RetrievalToolResponse> {
    const { config, record, passages, sources, runtime, signal } = context;
    const started = runtime.elapsedMs();
    const query = {
      text,
      topK: top_k ?? config.topK,
      filter: module == null ? options.filter : { ...options.filter, module: [module] },
      ...(threshold != null && { scoreThreshold: threshold }),
    };
    const key = JSON.stringify({ ...query, text: text.toLowerCase().replace(/\s+/g, ' ') });
    if (madeSearches.has(key)) return repeatedToolResponse(text);
    madeSearches.add(key);
    try {
      const found = await options.search(query, callId);
      const shown = passages.show(
        found,
        config.toolName === 'search_docs'
          ? { textOf: (chunk) => selectPassageWindow(chunk.text, text, MAX_RESULT_CHARACTERS) }
          : {},
      );
      record.addRetrieval(shown.context);
      const response = toToolResponse(shown, sources.register);
      return { ...response, message: withRemarks(response.message, shown.context) };
    } catch (error) {
      signal.throwIfAborted();
      if (isUserError(error)) throw error;
      return failedToolResponse('retrieval_failed', `The search failed: ${messageOf(error)}`, {
        query: text,
        elapsedMs: runtime.elapsedMs() - started,
      });
    }
  }

  function withRemarks(message: string | null, { chunks }: RetrievalContext): string | null {
    const isNew = chunks.some(({ chunkId }) => !shownChunkIds.has(chunkId));
    for (const { chunkId } of chunks) shownChunkIds.add(chunkId);
    const sentences = [
      message,
      chunks.length > 0 && !isNew
        ? 'All of these results were returned before; searching on adds nothing.'
        : null,
      hasStepsLeft(context) ? null : 'This was the last search of this turn: answer with what you have.',
    ].filter((sentence) => sentence !== null);
    return sentences.length === 0 ? null : sentences.join(' ');
  }
}

function isUserError(error: unknown): boolean {
  return error instanceof AppError && (error.kind === 'auth_error' || error.kind === 'configuration_error');
}

/** Chunks before and after a search result. */
const NEIGHBOURS = 2;

const readSourceArguments = z.strictObject({
  ref: z.string().trim().min(1).describe('The ref of a search result.'),
});

/** The tool that reads the passages around a search result. Counts as a retrieval. */
export function createReadSourceTool(context: ToolContext, store: Pick<ChunkStore, 'neighbours'>): Tool {
  const { record, runtime, signal } = context;
  return tool({
    name: READ_SOURCE_TOOL,
    description: 'Read the passages around a search result in its document. Each passage has a ref to cite.',
    strict: true,
    parameters: toStrictSchema(readSourceArguments),
    isEnabled: () => hasStepsLeft(context),
    async execute(args) {
      const started = runtime.elapsedMs();
      try {
        return JSON.stringify(await readSource(context, store, args));
      } catch (error) {
        signal.throwIfAborted();
        return JSON.stringify(
          failedToolResponse('retrieval_failed', `The source could not be read: ${messageOf(error)}`),
        );
      } finally {
        record.countToolUse(runtime.elapsedMs() - started);
      }
    },
  });
}

async function readSource(
  { record, sources, passages, runtime }: ToolContext,
  store: Pick<ChunkStore, 'neighbours'>,
  args: unknown,
): Promise<RetrievalToolResponse> {
  const checked = checkArguments(readSourceArguments, args);
  if (!checked.success) return failedToolResponse('invalid_arguments', checked.error);
  const ref = checked.data.ref.replace(/^\[|\]$/g, '');
  const hit = sources.chunkOf(ref);
  if (hit === undefined) {
    return failedToolResponse('unknown_ref', `There is no search result with the ref ${ref}.`);
  }
  const started = runtime.elapsedMs();
  const chunks = await store.neighbours(hit.chunkId, NEIGHBOURS, NEIGHBOURS);
  if (chunks.length === 0) {
    return failedToolResponse('unknown_ref', `The source with the ref ${ref} is no longer there.`);
  }
  const found = createRetrievalContext({
    query: `passages around [${ref}]`,
    chunks: chunks.map((chunk) => ({ ...chunk, score: hit.score })),
    scoreThreshold: 0,
    queryTimeMs: runtime.elapsedMs() - started,
    retrievedAt: runtime.now().toISOString(),
  });
  const importanceOf = ({ chunkIndex }: { chunkIndex: number }) => -Math.abs(chunkIndex - hit.chunkIndex);
  const shown = passages.show(found, { importanceOf });
  record.addRetrieval(shown.context);
  return toToolResponse(shown, sources.register);
}
