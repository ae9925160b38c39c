import * as z from 'zod';
import { filterSchema } from './query.ts';
import { type RetrievedChunk, retrievedChunkSchema, SCORE_DECIMALS, scoreSchema } from './retrieved-chunk.ts';
import { publicAddress } from './source-address.ts';
import { fitTexts, sumTokens } from './token-budget.ts';

/** Records of early versions have no ranks; their chunks are in order. */
const rankedChunksSchema = z.preprocess(
  (chunks) =>
    Array.isArray(chunks) ? chunks.map((chunk, index) => ({ rank: index + 1, ...chunk })) : chunks,
  z.array(retrievedChunkSchema),
);

/** The result of one query, best chunk first. */
export const retrievalContextSchema = z.object({
  query: z.string(),
  filter: filterSchema,
  chunks: rankedChunksSchema,
  /** Before the limit and the token budget were applied. */
  totalFound: z.int().min(0),
  queryTimeMs: z.number().min(0),
  retrievedAt: z.iso.datetime(),
  /** Of the chunks, or of the parts of them that are shown. */
  totalTokens: z.int().min(0),
  /** Chunks from this score on are relevant. */
  scoreThreshold: scoreSchema,
  hasRelevantResults: z.boolean(),
  /** The best chunk below the threshold, if none reached it. */
  nearMiss: retrievedChunkSchema.extend({ rank: retrievedChunkSchema.shape.rank.default(1) }).nullable(),
  /** Relevant chunks that only the filter excluded. */
  excludedByFilter: z.int().min(0),
  /** Chunks that did not fit into the token budget. */
  leftOut: z.int().min(0).default(0),
  /** Notices about the search, one sentence each. */
  notes: z.array(z.string()).default([]),
  /** Content words of the query that no document contains, as written. */
  absentWords: z.array(z.string()).default([]),
  /** A similar word of the documents for some of them. */
  suggestions: z.record(z.string(), z.string()).default({}),
});
export type RetrievalContext = z.infer<typeof retrievalContextSchema>;

type UnrankedChunk = Omit<RetrievedChunk, 'rank'>;

interface Retrieval
  extends Pick<RetrievalContext, 'query' | 'scoreThreshold' | 'queryTimeMs' | 'retrievedAt'>,
    Partial<Pick<RetrievalContext, 'filter' | 'totalFound' | 'excludedByFilter' | 'absentWords'>> {
  /** Best first. */
  chunks: readonly UnrankedChunk[];
  nearMiss?: UnrankedChunk | null;
  notes?: readonly string[];
}

export function createRetrievalContext(retrieval: Retrieval): RetrievalContext {
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
    notes: [...(retrieval.notes ?? [])],
    absentWords: retrieval.absentWords ?? [],
    suggestions: {},
  };
}

/** A sentence that names the words which no document contains; null without any. */
export function formatAbsentWords({
  absentWords,
  suggestions,
}: Pick<RetrievalContext, 'absentWords' | 'suggestions'>): string | null {
  if (absentWords.length === 0) return null;
  const similar = listChoices(Object.values(suggestions));
  return `No document contains ${listChoices(absentWords)}${similar === '' ? '.' : `; did you mean ${similar}?`}`;
}

function listChoices(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

/** The part of a retrieval that the model is shown. */
export interface ShownContext {
  /** With the shown chunks; their full text, because citations are checked against it. */
  context: RetrievalContext;
  /** The shown text of each chunk. */
  texts: string[];
}

/** The shown text of a chunk, by default all of it, and its importance, by default its score. */
export interface ShowOptions {
  textOf?: (chunk: RetrievedChunk) => string;
  importanceOf?: (chunk: RetrievedChunk) => number;
}

/** Fits a retrieval into `maxTokens`: drops the least important chunks, and cuts the last one if needed. Keeps the order. */
export function showContext(
  context: RetrievalContext,
  maxTokens: number,
  { textOf = ({ text }) => text, importanceOf = ({ score }) => score }: ShowOptions = {},
): ShownContext {
  const shown = fitTexts(
    context.chunks.map((chunk) => ({
      text: textOf(chunk),
      label: JSON.stringify(frameOf(chunk)),
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

/** Everything of a search result except its text, as long as in a tool response or a source block. */
function frameOf({ title, headings, score, ...chunk }: RetrievedChunk): object {
  return { ref: '100', title, headings, url: publicAddress(chunk), score, text: '', truncated: true };
}

/** The ref of a chunk: what the model writes in brackets to cite it. */
export type GetChunkRef = (chunk: RetrievedChunk, index: number) => string;

/** The chunks as source blocks of a prompt. A chunk cannot close its block or open another one. */
export function formatSourceBlocks({ context, texts }: ShownContext, refOf: GetChunkRef): string {
  return context.chunks
    .map((chunk, index) => {
      const title = [chunk.title, ...chunk.headings].filter((part) => part !== '').join(' > ');
      const attributes = [
        `ref=${quoted(refOf(chunk, index))}`,
        `title=${quoted(title)}`,
        `url=${quoted(publicAddress(chunk))}`,
        `score="${chunk.score.toFixed(SCORE_DECIMALS)}"`,
      ];
      return `<source ${attributes.join(' ')}>\n${(texts[index] ?? '').replace(/<(?=\/?source\b)/gi, '&lt;')}\n</source>`;
    })
    .join('\n\n');
}

function reachesThreshold(chunks: readonly RetrievedChunk[], threshold: number): boolean {
  return chunks.some((chunk) => chunk.score >= threshold);
}

function quoted(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
  return `"${text.replace(/\s+/g, ' ').replace(/[&"<>]/g, (character) => entities[character] ?? character)}"`;
}
