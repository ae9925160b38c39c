import * as z from 'zod';
import type { AgentSession } from '../agent/agent.ts';
import { policySchema } from '../domain/agent-config.ts';
import { agentResponseSchema } from '../domain/agent-response.ts';
import { toolCallSchema } from '../domain/conversation-message.ts';
import { conversationSessionSchema } from '../domain/conversation-session.ts';
import { type ConversationTurn, conversationTurnSchema } from '../domain/conversation-turn.ts';
import { renameLegacyFields } from '../domain/migrate-record.ts';
import { filterSchema } from '../domain/query.ts';
import { type ErrorResponse, errorResponseSchema } from '../faults/error-response.ts';

const searchOutputSchema = z.object({
  query: z.string(),
  totalFound: z.number(),
  chunks: z.array(
    z.object({ chunkId: z.string(), contentHash: z.string(), title: z.string(), score: z.number() }),
  ),
});
type SearchOutput = z.infer<typeof searchOutputSchema>;

const citationSchema = z.object({
  marker: z.string(),
  title: z.string(),
  url: z.string(),
  chunkId: z.string().nullable(),
  verdict: z.string(),
});

const messageSchema = z.object({
  role: z.string(),
  content: z.string().nullable(),
  name: z.string().optional(),
  toolCalls: z.array(toolCallSchema).optional(),
});

const turnOutputSchema = z.object({
  question: z.string(),
  policy: policySchema.nullable().default(null),
  filter: filterSchema.default({}),
  model: z.string(),
  /** Whether the conversation was reset before this question. */
  reset: z.boolean().default(false),
  answer: z.string().nullable(),
  grounded: z.boolean().nullable().default(null),
  citations: z.array(citationSchema).default([]),
  /** Null on tapes that do not have sentences. Those of earlier checks have no reasons. */
  sentences: z
    .array(
      z.object({
        text: z.string(),
        verdict: z.string().nullable(),
        reason: z.string().nullable().optional(),
      }),
    )
    .nullable()
    .default(null),
  retrievalCount: z.number().default(0),
  retrieved: z.array(searchOutputSchema).default([]),
  tokensUsed: agentResponseSchema.shape.tokensUsed.nullable().default(null),
  messages: z.array(messageSchema).default([]),
  error: errorResponseSchema.nullable().default(null),
});
export type TurnOutput = z.infer<typeof turnOutputSchema>;

/** The results of a run, which a replay of its tape is compared with. Reads those of earlier tape versions too. */
export const runOutputsSchema = z.preprocess(
  renameLegacyFields,
  z.object({
    /** The collection in the embedded store, with a fingerprint of its documents. Null for one on a server. */
    collection: z
      .object({ name: z.string(), documents: z.number(), fingerprint: z.string() })
      .nullable()
      .default(null),
    /** The resumed session as it was before the run. */
    resumed: z
      .object({
        session: conversationSessionSchema,
        user: z.string().nullable(),
        turns: z.array(conversationTurnSchema),
      })
      .nullable()
      .default(null),
    turns: z.array(turnOutputSchema).default([]),
    search: searchOutputSchema.nullable().default(null),
    ingest: z.record(z.string(), z.unknown()).nullable().default(null),
    /** The error that ended the run. */
    error: errorResponseSchema.nullable().default(null),
  }),
);
export type RunOutputs = z.infer<typeof runOutputsSchema>;

export function emptyRunOutputs(): RunOutputs {
  return { collection: null, resumed: null, turns: [], search: null, ingest: null, error: null };
}

export function toSearchOutput(
  retrieval: Pick<ConversationTurn['retrievals'][number], 'query' | 'totalFound' | 'chunks'>,
): SearchOutput {
  const { query, totalFound, chunks } = retrieval;
  return {
    query,
    totalFound,
    chunks: chunks.map(({ chunkId, contentHash, title, score }) => ({ chunkId, contentHash, title, score })),
  };
}

type TurnRequest = Pick<TurnOutput, 'question' | 'policy' | 'filter' | 'model' | 'reset'>;

/** `messages` are those that the turn added to the session. */
export function toTurnOutput(
  request: TurnRequest,
  { response, retrievals }: ConversationTurn,
  messages: ReturnType<AgentSession['snapshot']>['messages'],
): TurnOutput {
  return {
    ...request,
    model: response.model,
    answer: response.answer,
    grounded: response.grounded,
    citations: response.citations.map((citation) => citationSchema.parse(citation)),
    sentences: response.sentences.map(({ text, verdict, reason }) => ({
      text,
      verdict,
      reason: reason?.kind ?? null,
    })),
    retrievalCount: response.retrievalCount,
    retrieved: retrievals.map(toSearchOutput),
    tokensUsed: response.tokensUsed,
    messages: messages.map((message) => ({
      role: message.role,
      content: message.content,
      ...('name' in message && { name: message.name }),
      ...('toolCalls' in message && message.toolCalls.length > 0 && { toolCalls: message.toolCalls }),
    })),
    error: null,
  };
}

export function toFailedTurnOutput(request: TurnRequest, error: ErrorResponse): TurnOutput {
  return turnOutputSchema.parse({ ...request, answer: null, error });
}
