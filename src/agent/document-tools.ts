import { type Tool, tool } from '@openai/agents-core';
import * as z from 'zod';
import type { SourceRegister } from '../citations/source-register.ts';
import { type AgentConfig, isLocalModel, type ToolName } from '../domain/agent-config.ts';
import { FAILED_SEARCH_ADVICE } from '../domain/prompts.ts';
import type { Filter, Query } from '../domain/query.ts';
import { createRetrievalContext, type RetrievalContext } from '../domain/retrieval-context.ts';
import {
  failedToolResponse,
  formatToolResponse,
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
import type { PassageBudget, ToolDefinition } from './context-budget.ts';
import { checkArguments, toToolSchema } from './tool-arguments.ts';
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
  search_docs: "Search the user's documents. A result marked `truncated` has more text.",
  retrieve_context: "Search the user's documents. Results are whole passages.",
};

const MAX_TOP_K = 20;
/** With more modules than these, the schema does not list them. */
const MAX_LISTED_MODULES = 20;

/** The arguments of the search tool. `threshold` is accepted, but not offered: it was never of use to a model. */
export function searchArguments(modules: readonly string[], usualTopK: number) {
  const isListed = modules.length > 0 && modules.length <= MAX_LISTED_MODULES;
  const module = isListed ? z.enum(modules) : z.string().trim().min(1);
  const offered = z.strictObject({
    query: z.string().trim().min(1).max(1000).describe('A question or key words.'),
    top_k: z
      .int()
      .min(1)
      .max(MAX_TOP_K)
      .nullish()
      .describe(`Number of results; default: the best, up to ${usualTopK}.`),
    module: module.nullish().describe('Only this part of the documents.'),
  });
  return { offered, accepted: offered.extend({ threshold: z.number().min(0).max(1).nullish() }) };
}

/** The arguments with their JSON schema. They are kept, because turns of a session have the same modules. */
const searchParameters = memoizeBy(
  { size: 16 },
  (given: { modules: readonly string[]; usualTopK: number }) => JSON.stringify(given),
  ({ modules, usualTopK }) => {
    const { offered, accepted } = searchArguments(modules, usualTopK);
    return { schema: accepted, parameters: toToolSchema(offered) };
  },
);

/** Characters of the best result, of the second and of the others in `search_docs`: the best ones hold most answers. */
const EXCERPT_CHARACTERS = [800, 400, 300] as const;
/** Without `top_k`, results below this share of the best score are left out. */
const MIN_SCORE_SHARE = 0.8;
/** Results that are shown whatever their scores. */
const MIN_RESULTS = 2;

/** The definitions of the document tools, as a model gets them. */
export function documentToolDefinitions(
  { toolName, topK, readSource }: AgentConfig,
  modules: readonly string[],
): ToolDefinition[] {
  const { parameters } = searchParameters({ modules, usualTopK: topK });
  const search = { name: toolName, description: searchDescriptions[toolName], parameters };
  return readSource ? [search, READ_SOURCE] : [search];
}

interface SearchToolOptions {
  search: TurnSearch;
  /** The modules of the collection, to choose from. */
  modules: readonly string[];
  /** Applies to every search of the turn; the model may only narrow it. */
  filter: Filter;
}

/** The search tool of one turn. Validates arguments itself, because the SDK does not tell the model what was wrong. */
export function createSearchTool(context: ToolContext, options: SearchToolOptions): Tool {
  const { toolName, topK: usualTopK, model } = context.config;
  const modules = options.filter.module ?? options.modules;
  const { schema, parameters } = searchParameters({ modules, usualTopK });
  const madeSearches = new Set<string>();
  /** The shown text of each chunk. */
  const shownTexts = new Map<string, string>();
  return tool({
    name: toolName,
    description: searchDescriptions[toolName],
    strict: false,
    parameters,
    isEnabled: () => hasStepsLeft(context),
    // Errors that the model can act on are results already; the rest end the turn.
    errorFunction: (_context, error) => {
      throw error;
    },
    async execute(args, _context, details) {
      const callId = details?.toolCall?.callId ?? context.runtime.newId();
      const checked = checkArguments(schema, args);
      if (checked.success) return formatToolResponse(await searchForModel(checked.data, callId));
      context.record.countToolUse(0);
      return formatToolResponse(failedToolResponse('invalid_arguments', checked.error));
    },
  });

  /** Throws when the turn is aborted, and errors that only the user can fix. */
  async function searchForModel(
    { query: text, top_k, module, threshold }: z.infer<typeof schema>,
    callId: string,
  ): Promise<RetrievalToolResponse> {
    const { record, passages, sources, runtime, signal } = context;
    const started = runtime.elapsedMs();
    const query = {
      text,
      topK: top_k ?? usualTopK,
      filter: module == null ? options.filter : { ...options.filter, module: [module] },
      ...(threshold != null && { scoreThreshold: threshold }),
    };
    const key = JSON.stringify({ ...query, text: text.toLowerCase().replace(/\s+/g, ' ') });
    if (madeSearches.has(key)) {
      record.countToolUse(0);
      return repeatedToolResponse(text);
    }
    madeSearches.add(key);
    try {
      const found = await options.search(query, callId);
      const chosen = top_k == null && !isLocalModel(model) ? withoutWeaker(found) : found;
      const shown = passages.show(
        chosen,
        toolName === 'search_docs'
          ? { textOf: (chunk) => selectPassageWindow(chunk.text, text, excerptCharacters(chunk.rank)) }
          : {},
      );
      record.addRetrieval(shown.context);
      const isRepeated = shown.context.chunks.every(
        ({ chunkId }, index) => shownTexts.get(chunkId) === shown.texts[index],
      );
      shown.context.chunks.forEach(({ chunkId }, index) => {
        shownTexts.set(chunkId, shown.texts[index] ?? '');
      });
      const response = toToolResponse(shown, sources.register);
      return { ...response, message: withRemarks(response, isRepeated) };
    } catch (error) {
      signal.throwIfAborted();
      if (isUserError(error)) throw error;
      return failedToolResponse('retrieval_failed', failedSearchMessage(error), {
        query: text,
        elapsedMs: runtime.elapsedMs() - started,
      });
    }
  }

  function withRemarks({ message, total }: RetrievalToolResponse, isRepeated: boolean): string | null {
    const sentences = [
      message,
      total > 0 && isRepeated ? 'All of these results were returned before.' : null,
      hasStepsLeft(context) ? null : 'This was the last search of this turn: answer with what you have.',
    ].filter((sentence) => sentence !== null);
    return sentences.length === 0 ? null : sentences.join(' ');
  }
}

function excerptCharacters(rank: number): number {
  const [best, second, others] = EXCERPT_CHARACTERS;
  return rank === 1 ? best : rank === 2 ? second : others;
}

/** Without results that score much less than the best one. */
function withoutWeaker(found: RetrievalContext): RetrievalContext {
  const bar = MIN_SCORE_SHARE * (found.chunks[0]?.score ?? 0);
  return {
    ...found,
    chunks: found.chunks.filter(({ score }, index) => index < MIN_RESULTS || score >= bar),
  };
}

function failedSearchMessage(error: unknown): string {
  const reason = messageOf(error).replace(/[.\s]+$/, '');
  return `The search failed: ${reason}. ${FAILED_SEARCH_ADVICE}`;
}

function isUserError(error: unknown): boolean {
  return error instanceof AppError && (error.kind === 'auth_error' || error.kind === 'configuration_error');
}

/** Chunks before and after a search result; the offline model shows whole sections. */
const NEIGHBOURS = { offline: 2, hosted: 1 } as const;

const readSourceArguments = z.strictObject({ ref: z.string().trim().min(1) });
const READ_SOURCE = {
  name: READ_SOURCE_TOOL,
  description: 'Read the whole passage of a result by its ref, with the passages around it.',
  parameters: toToolSchema(readSourceArguments),
} as const;

/** The tool that reads the passages around a search result. Counts as a retrieval. */
export function createReadSourceTool(context: ToolContext, store: Pick<ChunkStore, 'neighbours'>): Tool {
  const { record, runtime, signal } = context;
  return tool({
    ...READ_SOURCE,
    strict: false,
    isEnabled: () => hasStepsLeft(context),
    async execute(args) {
      const started = runtime.elapsedMs();
      try {
        return formatToolResponse(await readSource(context, store, args));
      } catch (error) {
        signal.throwIfAborted();
        return formatToolResponse(
          failedToolResponse('retrieval_failed', `The source could not be read: ${messageOf(error)}`),
        );
      } finally {
        record.countToolUse(runtime.elapsedMs() - started);
      }
    },
  });
}

async function readSource(
  { config, record, sources, passages, runtime }: ToolContext,
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
  const around = isLocalModel(config.model) ? NEIGHBOURS.offline : NEIGHBOURS.hosted;
  const chunks = await store.neighbours(hit.chunkId, around, around);
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
