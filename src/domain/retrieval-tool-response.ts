import * as z from 'zod';
import { type Filter, filterSchema, formatFilter, isEmptyFilter } from './query.ts';
import {
  formatAbsentWords,
  type GetChunkRef,
  type RetrievalContext,
  type ShownContext,
} from './retrieval-context.ts';
import { SCORE_DECIMALS, scoreSchema } from './retrieved-chunk.ts';
import { publicAddress } from './source-address.ts';

const toolErrorSchema = z.enum(['invalid_arguments', 'unknown_tool', 'unknown_ref', 'retrieval_failed']);

/** Why there are no results, so that the model knows what to try next. */
const emptyReasonSchema = z.discriminatedUnion('reason', [
  z.object({
    reason: z.literal('below_threshold'),
    threshold: scoreSchema,
    near_miss: z.object({ title: z.string(), url: z.string(), score: scoreSchema }),
  }),
  z.object({ reason: z.literal('filtered_out'), filter: filterSchema, excluded: z.int().min(1) }),
  z.object({ reason: z.literal('no_match') }),
  z.object({ reason: z.literal('repeated_query') }),
]);
type EmptyReason = z.infer<typeof emptyReasonSchema>;

/** The JSON result of a tool. `empty` is set without results. */
export const retrievalToolResponseSchema = z.object({
  results: z.array(
    z.object({
      text: z.string(),
      url: z.string(),
      title: z.string(),
      /** Outermost first; empty in records of early versions. */
      headings: z.array(z.string()).default([]),
      score: scoreSchema,
      /** What the model writes in brackets to cite this result. */
      ref: z.string().min(1),
      /** The passage has more text. */
      truncated: z.literal(true).optional(),
      /** The score is hardly above the threshold: rarely the answer. */
      weak: z.literal(true).optional(),
    }),
  ),
  total: z.int().min(0),
  query: z.string(),
  /** `message` then says what happened and what to do. */
  error: toolErrorSchema.nullable(),
  message: z.string().nullable(),
  /** Whole seconds, so that repeated runs give the same text; the record has exact times. */
  execution_time: z.number().min(0),
  empty: emptyReasonSchema.optional(),
  /** Results that are not shown: over the token budget, or not cited by the answer of an earlier turn. */
  left_out: z.object({ reason: z.enum(['no_room', 'not_cited']), count: z.int().min(1) }).optional(),
});
export type RetrievalToolResponse = z.infer<typeof retrievalToolResponseSchema>;

/** Scores less than this above the threshold are weak. */
const WEAK_MARGIN = 0.1;

/** The JSON that a model gets. A result starts with its ref, and has no key for headings without any. */
export function formatToolResponse({ results, ...response }: RetrievalToolResponse): string {
  const shown = results.map(({ ref, title, headings, ...result }) => ({
    ref,
    title,
    ...(headings.length > 0 && { headings }),
    ...result,
  }));
  return JSON.stringify({ results: shown, ...response });
}

export function toToolResponse({ context, texts }: ShownContext, refOf: GetChunkRef): RetrievalToolResponse {
  const results = context.chunks.map((chunk, index) => ({
    ref: refOf(chunk, index),
    title: chunk.title,
    headings: chunk.headings,
    url: publicAddress(chunk),
    score: roundTo(chunk.score, SCORE_DECIMALS),
    text: texts[index] ?? '',
    ...(texts[index]?.trim() !== chunk.text.trim() && { truncated: true as const }),
    ...(chunk.score < context.scoreThreshold + WEAK_MARGIN && { weak: true as const }),
  }));
  const response = {
    results,
    total: results.length,
    query: context.query,
    error: null,
    execution_time: wholeSeconds(context.queryTimeMs),
  };
  const { leftOut } = context;
  const notes = [...context.notes, formatAbsentWords(context)].filter((note) => note !== null);
  if (results.length === 0) {
    const empty = emptyReasonOf(context);
    return { ...response, message: [...notes, sentenceFor(empty)].join(' '), empty };
  }
  if (leftOut === 0) return { ...response, message: notes.join(' ') || null };
  const message = [...notes, leftOutSentence(leftOut)].join(' ');
  return { ...response, message, left_out: { reason: 'no_room', count: leftOut } };
}

/** For a search that the turn has made before: its results are in the conversation. */
export function repeatedToolResponse(query: string): RetrievalToolResponse {
  const empty: EmptyReason = { reason: 'repeated_query' };
  const emptyFields = { results: [], total: 0, error: null, execution_time: 0 };
  return { ...emptyFields, query, message: sentenceFor(empty), empty };
}

/** Parses the content of a tool message; null if it is not a tool response. */
export function parseToolResponse(text: string): RetrievalToolResponse | null {
  try {
    return retrievalToolResponseSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Merges the searches of a past turn into one response with the cited results and the number of others; null without any. */
export function mergeCitedResults(
  responses: readonly RetrievalToolResponse[],
  refs: ReadonlySet<string>,
): RetrievalToolResponse | null {
  const found = responses.flatMap(({ results }) => results);
  const [first] = responses;
  if (first === undefined || found.length === 0) return first ?? null;
  const cited = new Map(found.filter(({ ref }) => refs.has(ref)).map((each) => [each.ref + each.text, each]));
  const count = new Set(found.map(({ ref }) => ref)).difference(refs).size;
  const { query } = responses.find(({ results }) => results.some(({ ref }) => refs.has(ref))) ?? first;
  return {
    results: [...cited.values()],
    total: cited.size,
    query,
    error: null,
    message: null,
    execution_time: 0,
    ...(count > 0 && { left_out: { reason: 'not_cited', count } }),
  };
}

/** A failed call, with a sentence that the model can act on. */
export function failedToolResponse(
  error: z.infer<typeof toolErrorSchema>,
  message: string,
  { query = '', elapsedMs = 0 }: { query?: string; elapsedMs?: number } = {},
): RetrievalToolResponse {
  return { results: [], total: 0, query, error, message, execution_time: wholeSeconds(elapsedMs) };
}

function leftOutSentence(count: number): string {
  const results = count === 1 ? 'One more result was' : `${count} more results were`;
  return `${results} found but left out: the token limit is reached. A narrower query shows other passages.`;
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function emptyReasonOf(context: RetrievalContext): EmptyReason {
  if (!isEmptyFilter(context.filter) && context.excludedByFilter > 0) {
    return {
      reason: 'filtered_out',
      filter: withoutLocalPaths(context.filter),
      excluded: context.excludedByFilter,
    };
  }
  if (context.nearMiss === null) return { reason: 'no_match' };
  const { title, score } = context.nearMiss;
  const near = { title, url: publicAddress(context.nearMiss), score: roundTo(score, SCORE_DECIMALS) };
  return { reason: 'below_threshold', threshold: context.scoreThreshold, near_miss: near };
}

/** A filter by URL may name a local file. */
function withoutLocalPaths(filter: Filter): Filter {
  const { url } = filter;
  return url === undefined
    ? filter
    : { ...filter, url: url.map((address) => publicAddress({ url: address })) };
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

/** Rounds to at most `decimals` decimals. */
export function roundTo(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
