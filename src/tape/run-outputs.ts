import * as z from 'zod';
import { agentResponseSchema } from '../domain/agent-response.ts';
import { toolCallSchema } from '../domain/conversation-message.ts';
import { conversationSessionSchema } from '../domain/conversation-session.ts';
import { type ConversationTurn, conversationTurnSchema } from '../domain/conversation-turn.ts';
import { errorResponseSchema } from '../domain/error-response.ts';
import { filterSchema } from '../domain/filter.ts';

const foundSchema = z.object({
  query: z.string(),
  totalFound: z.number(),
  chunks: z.array(
    z.object({ chunkId: z.string(), contentHash: z.string(), title: z.string(), score: z.number() }),
  ),
});
export type Found = z.infer<typeof foundSchema>;

const messageSchema = z.object({
  role: z.string(),
  content: z.string().nullable(),
  name: z.string().optional(),
  toolCalls: z.array(toolCallSchema).optional(),
});

const turnSchema = z.object({
  question: z.string(),
  policy: z.string().nullable().default(null),
  filter: filterSchema.default({}),
  model: z.string(),
  /** Whether the conversation was reset before this question. */
  reset: z.boolean().default(false),
  answer: z.string().nullable(),
  grounded: z.boolean().nullable().default(null),
  citations: z
    .array(
      z.object({
        marker: z.string(),
        title: z.string(),
        url: z.string(),
        chunkId: z.string().nullable(),
        verdict: z.string(),
      }),
    )
    .default([]),
  retrievalCount: z.number().default(0),
  retrieved: z.array(foundSchema).default([]),
  tokensUsed: agentResponseSchema.shape.tokensUsed.nullable().default(null),
  messages: z.array(messageSchema).default([]),
  error: errorResponseSchema.nullable().default(null),
});
export type TurnOutput = z.infer<typeof turnSchema>;

/** What a run came to: what a replay of its tape is compared with. */
export const runOutputsSchema = z.object({
  /** The collection as it was; its fingerprint is made of what its documents hold. Null for one on a server. */
  collection: z
    .object({ name: z.string(), documents: z.number(), fingerprint: z.string() })
    .nullable()
    .default(null),
  /** The session that went on, as it was before. */
  resumed: z
    .object({
      session: conversationSessionSchema,
      user: z.string().nullable(),
      turns: z.array(conversationTurnSchema),
    })
    .nullable()
    .default(null),
  turns: z.array(turnSchema).default([]),
  search: foundSchema.nullable().default(null),
  ingest: z.record(z.string(), z.unknown()).nullable().default(null),
  /** What ended the run. */
  error: errorResponseSchema.nullable().default(null),
});
export type RunOutputs = z.infer<typeof runOutputsSchema>;

export function noOutputs(): RunOutputs {
  return { collection: null, resumed: null, turns: [], search: null, ingest: null, error: null };
}

export function foundOf({
  query,
  totalFound,
  chunks,
}: Pick<ConversationTurn['retrievals'][number], 'query' | 'totalFound' | 'chunks'>): Found {
  return {
    query,
    totalFound,
    chunks: chunks.map(({ chunkId, contentHash, title, score }) => ({ chunkId, contentHash, title, score })),
  };
}
