import * as z from 'zod';
import { type Citable, formatCitation, toCitable } from './citation.ts';
import { type Filter, filterSchema } from './filter.ts';
import { type RetrievedChunk, retrievedChunkSchema, scoreSchema } from './retrieved-chunk.ts';

/** What one query brought back. Chunks are ordered best first. */
export const retrievalContextSchema = z.object({
  query: z.string(),
  filter: filterSchema,
  chunks: z.array(retrievedChunkSchema),
  /** How many chunks there were before the limit and the budget were applied. */
  totalFound: z.int().min(0),
  queryTimeMs: z.number().min(0),
  retrievedAt: z.iso.datetime(),
  totalTokens: z.int().min(0),
  /** The score from which a chunk counts as relevant. */
  scoreThreshold: scoreSchema,
  hasRelevantResults: z.boolean(),
  /** The best chunk that stayed below the threshold, when nothing reached it. */
  nearMiss: retrievedChunkSchema.nullable(),
  /** Relevant chunks that only the filter kept out. */
  excludedByFilter: z.int().min(0),
  /** What a person should know about how this came about, one sentence each. */
  notes: z.array(z.string()).default([]),
});
export type RetrievalContext = z.infer<typeof retrievalContextSchema>;

interface Retrieved {
  query: string;
  chunks: readonly RetrievedChunk[];
  scoreThreshold: number;
  queryTimeMs: number;
  retrievedAt: string;
  filter?: Filter;
  totalFound?: number;
  nearMiss?: RetrievedChunk | null;
  excludedByFilter?: number;
  notes?: readonly string[];
}

export function createRetrievalContext(retrieved: Retrieved): RetrievalContext {
  const chunks = [...retrieved.chunks];
  return {
    query: retrieved.query,
    filter: retrieved.filter ?? {},
    chunks,
    totalFound: retrieved.totalFound ?? chunks.length,
    queryTimeMs: retrieved.queryTimeMs,
    retrievedAt: retrieved.retrievedAt,
    totalTokens: sumTokens(chunks),
    scoreThreshold: retrieved.scoreThreshold,
    hasRelevantResults: reachesThreshold(chunks, retrieved.scoreThreshold),
    nearMiss: retrieved.nearMiss ?? null,
    excludedByFilter: retrieved.excludedByFilter ?? 0,
    notes: [...(retrieved.notes ?? [])],
  };
}

/** Drops chunks, the lowest score first and of equals the last, until the rest fits. The order stays. */
export function trimToBudget(context: RetrievalContext, maxTokens: number): RetrievalContext {
  const worstFirst = context.chunks.map((_, index) => index).reverse();
  worstFirst.sort((a, b) => scoreAt(context, a) - scoreAt(context, b));
  const dropped = new Set<number>();
  let totalTokens = sumTokens(context.chunks);
  for (const index of worstFirst) {
    if (totalTokens <= maxTokens) break;
    dropped.add(index);
    totalTokens -= context.chunks[index]?.tokenCount ?? 0;
  }
  const chunks = context.chunks.filter((_, index) => !dropped.has(index));
  return {
    ...context,
    chunks,
    totalTokens,
    hasRelevantResults: reachesThreshold(chunks, context.scoreThreshold),
  };
}

/** Names a chunk in the conversation: what the model writes in brackets to cite it. */
export type RefOf = (chunk: RetrievedChunk, index: number) => string;

const byPosition: RefOf = (_, index) => String(index + 1);

/** The chunks as the prompt holds them. A chunk cannot close its own block or open another one. */
export function formatForPrompt(context: RetrievalContext, refOf: RefOf = byPosition): string {
  return context.chunks
    .map((chunk, index) => {
      const place = [chunk.title, ...chunk.headings].filter((part) => part !== '').join(' > ');
      const attributes = `ref=${quoted(refOf(chunk, index))} title=${quoted(place)} url=${quoted(chunk.url)}`;
      return `<source ${attributes}>\n${chunk.text.replace(/<(?=\/?source\b)/gi, '&lt;')}\n</source>`;
    })
    .join('\n\n');
}

/** The footer under an answer: every source once, best first; empty without chunks. */
export function formatSources(context: Pick<RetrievalContext, 'chunks'>): string {
  const titles = new Map<string, string>();
  for (const { url, title } of context.chunks) if (!titles.has(url)) titles.set(url, title);
  if (titles.size === 0) return '';
  return `Sources:\n${Array.from(titles, ([url, title]) => `- ${formatCitation({ title, url })}`).join('\n')}`;
}

/** What an answer may cite from here. */
export function citablesOf(context: RetrievalContext, refOf: RefOf = byPosition): Citable[] {
  return context.chunks.map((chunk, index) => toCitable(chunk, refOf(chunk, index)));
}

function sumTokens(chunks: readonly RetrievedChunk[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.tokenCount, 0);
}

function reachesThreshold(chunks: readonly RetrievedChunk[], threshold: number): boolean {
  return chunks.some((chunk) => chunk.score >= threshold);
}

function scoreAt(context: RetrievalContext, index: number): number {
  return context.chunks[index]?.score ?? 0;
}

function quoted(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
  return `"${text.replace(/\s+/g, ' ').replace(/[&"<>]/g, (character) => entities[character] ?? character)}"`;
}
