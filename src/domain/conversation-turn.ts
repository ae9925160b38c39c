import * as z from 'zod';
import { agentResponseSchema } from './agent-response.ts';
import type { Citation } from './citation.ts';
import { filterSchema } from './query.ts';
import { type RetrievalContext, retrievalContextSchema } from './retrieval-context.ts';

/** One step of a turn: whether it searched, what for, what came back, and what the answer cited of it. */
export const decisionSchema = z.discriminatedUnion('searched', [
  z.object({ step: z.int().min(1), searched: z.literal(false) }),
  z
    .object({
      step: z.int().min(1),
      searched: z.literal(true),
      query: z.string(),
      filter: filterSchema,
      chunks: z.array(z.object({ chunkId: z.string().min(1), contentHash: z.string().min(1) })),
      cited: z.array(z.string().min(1)),
    })
    .refine(({ chunks, cited }) => cited.every((id) => chunks.some(({ chunkId }) => chunkId === id)), {
      error: 'only what came back can be cited',
      path: ['cited'],
    }),
]);
export type Decision = z.infer<typeof decisionSchema>;

export const conversationTurnSchema = z.object({
  turnId: z.string().min(1),
  userQuery: z.string().min(1),
  retrievals: z.array(retrievalContextSchema),
  response: agentResponseSchema,
  timestamp: z.iso.datetime(),
  durationSeconds: z.number().positive(),
  /** In the order of the steps; a step that searched twice has two entries. */
  decisions: z.array(decisionSchema),
});
export type ConversationTurn = z.infer<typeof conversationTurnSchema>;

export function answeredStep(step: number): Decision {
  return { step, searched: false };
}

export function searchedStep(step: number, { query, filter, chunks }: RetrievalContext): Decision {
  const hashes = chunks.map(({ chunkId, contentHash }) => ({ chunkId, contentHash }));
  return { step, searched: true, query, filter, chunks: hashes, cited: [] };
}

/** The ledger once the answer is known: each search with the chunks of it that the answer cites. */
export function withCited(
  decisions: readonly Decision[],
  citations: readonly Pick<Citation, 'chunkId'>[],
): Decision[] {
  const cited = new Set(citations.map(({ chunkId }) => chunkId));
  return decisions.map((decision) =>
    decision.searched
      ? { ...decision, cited: decision.chunks.map(({ chunkId }) => chunkId).filter((id) => cited.has(id)) }
      : decision,
  );
}

/** Seconds between two readings of a clock, never zero even when the clock did not move. */
export function durationBetween(startMs: number, endMs: number): number {
  return Math.max(endMs - startMs, 1) / 1000;
}
