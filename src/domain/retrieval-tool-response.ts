import * as z from 'zod';
import type { ToolName } from './agent-config.ts';
import { cutText } from './cut-text.ts';
import { filterSchema, formatFilter, isEmptyFilter } from './filter.ts';
import type { RefOf, RetrievalContext } from './retrieval-context.ts';
import { type RetrievedChunk, scoreSchema } from './retrieved-chunk.ts';
import { rounded } from './rounded.ts';

export const MAX_RESULT_TEXT = 500;

/** Why nothing came back, so that the model can tell what to try next. */
export const emptyReasonSchema = z.discriminatedUnion('reason', [
  z.object({
    reason: z.literal('below_threshold'),
    threshold: scoreSchema,
    near_miss: z.object({ title: z.string(), url: z.string(), score: scoreSchema }),
  }),
  z.object({ reason: z.literal('filtered_out'), filter: filterSchema, excluded: z.int().min(1) }),
  z.object({ reason: z.literal('no_match') }),
  z.object({ reason: z.literal('repeated_query') }),
]);
export type EmptyReason = z.infer<typeof emptyReasonSchema>;

/** The answer of the search tool, as JSON that the model reads. `empty` is there only without results. */
export const retrievalToolResponseSchema = z
  .object({
    results: z.array(
      z.object({
        text: z.string(),
        url: z.string(),
        title: z.string(),
        score: scoreSchema,
        /** What the model writes in brackets to cite this result. */
        ref: z.string().min(1),
      }),
    ),
    total: z.int().min(0),
    query: z.string(),
    error: z.string().min(1).nullable(),
    message: z.string().nullable(),
    /** Seconds. */
    execution_time: z.number().min(0),
    empty: emptyReasonSchema.optional(),
  })
  .refine((response) => response.error !== null || response.total === response.results.length, {
    error: 'total must be the number of results',
    path: ['total'],
  })
  .refine((response) => response.error === null || response.results.length === 0, {
    error: 'a failed search has no results',
    path: ['results'],
  });
export type RetrievalToolResponse = z.infer<typeof retrievalToolResponseSchema>;

/** What a search tool says about a retrieval; `search_docs` shortens the texts, `retrieve_context` does not. */
export function toToolResponse(
  context: RetrievalContext,
  toolName: ToolName,
  refOf: RefOf,
  shorten: (text: string, max: number) => string = cutText,
): RetrievalToolResponse {
  const results = context.chunks.map((chunk, index) => ({
    text: toolName === 'search_docs' ? shorten(chunk.text, MAX_RESULT_TEXT) : chunk.text,
    url: chunk.url,
    title: chunk.title,
    score: rounded(chunk.score, 3),
    ref: refOf(chunk, index),
  }));
  const response = {
    results,
    total: results.length,
    query: context.query,
    error: null,
    execution_time: rounded(context.queryTimeMs / 1000, 2),
  };
  if (results.length > 0) return { ...response, message: context.notes.join(' ') || null };
  const empty = emptyReasonOf(context);
  return { ...response, message: sentenceFor(empty), empty };
}

/** The same search again in one turn: the results are in the conversation already. */
export function repeatedToolResponse(query: string): RetrievalToolResponse {
  const empty: EmptyReason = { reason: 'repeated_query' };
  const nothing = { results: [], total: 0, error: null, execution_time: 0 };
  return { ...nothing, query, message: sentenceFor(empty), empty };
}

/** A search that failed, in a sentence that the model can act on. */
export function failedToolResponse(query: string, error: string, elapsedMs: number): RetrievalToolResponse {
  const executionTime = rounded(elapsedMs / 1000, 2);
  return { results: [], total: 0, query, error, message: null, execution_time: executionTime };
}

function emptyReasonOf(context: RetrievalContext): EmptyReason {
  if (!isEmptyFilter(context.filter) && context.excludedByFilter > 0) {
    return { reason: 'filtered_out', filter: context.filter, excluded: context.excludedByFilter };
  }
  if (context.nearMiss === null) return { reason: 'no_match' };
  return {
    reason: 'below_threshold',
    threshold: context.scoreThreshold,
    near_miss: nearMissOf(context.nearMiss),
  };
}

function nearMissOf({ title, url, score }: RetrievedChunk) {
  return { title, url, score: rounded(score, 3) };
}

function sentenceFor(empty: EmptyReason): string {
  switch (empty.reason) {
    case 'below_threshold':
      return (
        `Nothing scored ${empty.threshold} or more. The nearest was "${empty.near_miss.title}" with ` +
        `${empty.near_miss.score}. Try other words, or say that the documents do not cover this.`
      );
    case 'filtered_out':
      return `The filter ${formatFilter(empty.filter)} excluded ${empty.excluded} relevant results. Search again without it.`;
    case 'no_match':
      return 'The documents hold nothing for this query. Try other words, or say that they do not cover this.';
    case 'repeated_query':
      return 'This search was made before and adds nothing. Use the results above, or try other words.';
  }
}
