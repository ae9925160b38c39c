import * as z from 'zod';
import { placeOf } from './place.ts';
import { type Filter, filterSchema } from './query.ts';
import { type RetrievedChunk, retrievedChunkSchema, SCORE_DECIMALS, scoreSchema } from './retrieved-chunk.ts';
import { fitTexts } from './token-budget.ts';

/** Records of earlier versions hold no ranks, but their chunks are in that order. */
const rankedChunksSchema = z.preprocess(
  (chunks) => (Array.isArray(chunks) ? withRanks(chunks) : chunks),
  z.array(retrievedChunkSchema),
);

const spellingCorrectionSchema = z.object({ typed: z.string(), meant: z.string() });
export type SpellingCorrection = z.infer<typeof spellingCorrectionSchema>;

/** What one query brought back. Chunks are ordered best first. */
export const retrievalContextSchema = z.object({
  query: z.string(),
  filter: filterSchema,
  chunks: rankedChunksSchema,
  /** How many chunks there were before the limit and the budget were applied. */
  totalFound: z.int().min(0),
  queryTimeMs: z.number().min(0),
  retrievedAt: z.iso.datetime(),
  /** Of the chunks, or of what was shown of them. */
  totalTokens: z.int().min(0),
  /** The score from which a chunk counts as relevant. */
  scoreThreshold: scoreSchema,
  hasRelevantResults: z.boolean(),
  /** The best chunk that stayed below the threshold, when nothing reached it. */
  nearMiss: retrievedChunkSchema.extend({ rank: retrievedChunkSchema.shape.rank.default(1) }).nullable(),
  /** Relevant chunks that only the filter kept out. */
  excludedByFilter: z.int().min(0),
  /** Chunks that were found and not shown to the model, for want of room in its window. */
  leftOut: z.int().min(0).default(0),
  /** Words of the query that no document has, with what was searched for instead; left out where there are none. */
  corrections: z.array(spellingCorrectionSchema).optional(),
  /** What a person should know about how this came about, one sentence each. */
  notes: z.array(z.string()).default([]),
});
export type RetrievalContext = z.infer<typeof retrievalContextSchema>;

/** A chunk that has no place yet. */
type UnrankedChunk = Omit<RetrievedChunk, 'rank'>;

interface Retrieval {
  query: string;
  /** Best first. */
  chunks: readonly UnrankedChunk[];
  scoreThreshold: number;
  queryTimeMs: number;
  retrievedAt: string;
  filter?: Filter;
  totalFound?: number;
  nearMiss?: UnrankedChunk | null;
  excludedByFilter?: number;
  corrections?: readonly SpellingCorrection[] | undefined;
  notes?: readonly string[];
}

export function createRetrievalContext(retrieval: Retrieval): RetrievalContext {
  const corrections = retrieval.corrections ?? [];
  const chunks = retrieval.chunks.map((chunk, index) => ({ ...chunk, rank: index + 1 }));
  return {
    query: retrieval.query,
    filter: retrieval.filter ?? {},
    chunks,
    totalFound: retrieval.totalFound ?? chunks.length,
    queryTimeMs: retrieval.queryTimeMs,
    retrievedAt: retrieval.retrievedAt,
    totalTokens: sumTokens(chunks),
    scoreThreshold: retrieval.scoreThreshold,
    hasRelevantResults: reachesThreshold(chunks, retrieval.scoreThreshold),
    nearMiss: retrieval.nearMiss ? { ...retrieval.nearMiss, rank: 1 } : null,
    excludedByFilter: retrieval.excludedByFilter ?? 0,
    leftOut: 0,
    ...(corrections.length > 0 && { corrections: [...corrections] }),
    notes: [...(retrieval.notes ?? [])],
  };
}

export function correctionSentence({ typed, meant }: SpellingCorrection): string {
  return `No document has "${typed}": searched for "${meant}".`;
}

/** The query with what was meant in the place of what was typed. */
export function searchedFor({ query, corrections = [] }: RetrievalContext): string {
  return corrections.reduce((text, { typed, meant }) => text.replaceAll(typed, meant), query);
}

/** What the model is shown of a retrieval. */
export interface ShownContext {
  /** With the chunks that are shown, whole: a citation is checked against all of a chunk. */
  context: RetrievalContext;
  /** What is shown of each chunk, in the same order. */
  texts: string[];
}

/** How a chunk is shown, and what goes first where not all can be: unless told, whole, and what scored least. */
export interface Showing {
  textOf?: (chunk: RetrievedChunk) => string;
  importanceOf?: (chunk: RetrievedChunk) => number;
}

/**
 * What is shown of a retrieval where only so many tokens may be: the least important is left out first, and the most
 * important always stays, cut if need be. It costs what is shown, not what is stored. The order stays.
 */
export function showContext(
  context: RetrievalContext,
  maxTokens: number,
  { textOf = ({ text }) => text, importanceOf = ({ score }) => score }: Showing = {},
): ShownContext {
  const shown = fitTexts(
    context.chunks.map((chunk) => ({
      text: textOf(chunk),
      label: `${chunk.title} ${placeOf(chunk)}`,
      importance: importanceOf(chunk),
    })),
    maxTokens,
  );
  const chunks = shown.flatMap(({ index }) => context.chunks[index] ?? []);
  return {
    texts: shown.map(({ text }) => text),
    context: {
      ...context,
      chunks,
      totalTokens: shown.reduce((sum, { tokens }) => sum + tokens, 0),
      leftOut: context.chunks.length - chunks.length,
      hasRelevantResults: reachesThreshold(chunks, context.scoreThreshold),
    },
  };
}

/** Names a chunk in the conversation: what the model writes in brackets to cite it. */
export type RefOf = (chunk: RetrievedChunk, index: number) => string;

const byPosition: RefOf = (_, index) => String(index + 1);

/** The chunks as the prompt holds them. A chunk cannot close its own block or open another one. */
export function formatForPrompt({ context, texts }: ShownContext, refOf: RefOf = byPosition): string {
  return context.chunks
    .map((chunk, index) => {
      const title = [chunk.title, ...chunk.headings].filter((part) => part !== '').join(' > ');
      const attributes = [
        `ref=${quoted(refOf(chunk, index))}`,
        `title=${quoted(title)}`,
        `url=${quoted(placeOf(chunk))}`,
        `score="${chunk.score.toFixed(SCORE_DECIMALS)}"`,
      ];
      return `<source ${attributes.join(' ')}>\n${(texts[index] ?? '').replace(/<(?=\/?source\b)/gi, '&lt;')}\n</source>`;
    })
    .join('\n\n');
}

function withRanks(chunks: readonly object[]): object[] {
  return chunks.map((chunk, index) => ({ rank: index + 1, ...chunk }));
}

function sumTokens(chunks: readonly RetrievedChunk[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.tokenCount, 0);
}

function reachesThreshold(chunks: readonly RetrievedChunk[], threshold: number): boolean {
  return chunks.some((chunk) => chunk.score >= threshold);
}

function quoted(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
  return `"${text.replace(/\s+/g, ' ').replace(/[&"<>]/g, (character) => entities[character] ?? character)}"`;
}
