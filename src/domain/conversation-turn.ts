import * as z from 'zod';
import { agentResponseSchema } from './agent-response.ts';
import type { Citation } from './citation.ts';
import { filterSchema } from './query.ts';
import { type RetrievalContext, retrievalContextSchema } from './retrieval-context.ts';

/** A ledger entry: one step of a turn with its search, the chunks it returned, and those the answer cites. */
const ledgerEntrySchema = z.discriminatedUnion('searched', [
  z.object({ step: z.int().min(1), searched: z.literal(false) }),
  z.object({
    step: z.int().min(1),
    searched: z.literal(true),
    query: z.string(),
    filter: filterSchema,
    chunks: z.array(z.object({ chunkId: z.string().min(1), contentHash: z.string().min(1) })),
    cited: z.array(z.string().min(1)),
  }),
]);
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

export const conversationTurnSchema = z.object({
  turnId: z.string().min(1),
  userQuery: z.string().min(1),
  retrievals: z.array(retrievalContextSchema),
  response: agentResponseSchema,
  timestamp: z.iso.datetime(),
  durationSeconds: z.number().positive(),
  /** The ledger, in order; a step with two searches has two entries. */
  decisions: z.array(ledgerEntrySchema),
});
export type ConversationTurn = z.infer<typeof conversationTurnSchema>;

export function toAnswerEntry(step: number): LedgerEntry {
  return { step, searched: false };
}

export function toSearchEntry(step: number, { query, filter, chunks }: RetrievalContext): LedgerEntry {
  const hashes = chunks.map(({ chunkId, contentHash }) => ({ chunkId, contentHash }));
  return { step, searched: true, query, filter, chunks: hashes, cited: [] };
}

/** Adds to each search of the ledger the chunks that the answer cites. */
export function withCitedChunks(
  decisions: readonly LedgerEntry[],
  citations: readonly Pick<Citation, 'chunkId'>[],
): LedgerEntry[] {
  const cited = new Set(citations.map(({ chunkId }) => chunkId));
  return decisions.map((decision) =>
    decision.searched
      ? { ...decision, cited: decision.chunks.map(({ chunkId }) => chunkId).filter((id) => cited.has(id)) }
      : decision,
  );
}

/** Seconds between two clock readings, at least 0.001. */
export function secondsBetween(startMs: number, endMs: number): number {
  return Math.max(endMs - startMs, 1) / 1000;
}
