import * as z from 'zod';
import { errorResponseSchema } from '../faults/error-response.ts';
import { citationSchema } from './citation.ts';
import { toolCallSchema } from './conversation-message.ts';
import { conversationTurnSchema } from './conversation-turn.ts';
import { filterSchema } from './query.ts';
import { retrievalContextSchema } from './retrieval-context.ts';

/** A turn starts and ends idle; retrieving and generating alternate in any order. */
const turnPhaseSchema = z.enum(['idle', 'retrieving', 'generating', 'error']);
export type TurnPhase = z.infer<typeof turnPhaseSchema>;

/** The id of the tool call that made the retrieval, or a new id. */
const retrievalId = z.string().min(1);

const retrySchema = z.object({
  attempt: z.int().min(1),
  waitMs: z.number().min(0),
  error: errorResponseSchema,
});

/** The events of a turn, in the order in which they happen. */
export const runEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('phase'), from: turnPhaseSchema, to: turnPhaseSchema }),
  z.object({
    type: z.literal('retrieval_started'),
    retrievalId,
    query: z.string(),
    topK: z.int().min(1),
    filter: filterSchema,
  }),
  z.object({
    type: z.literal('retrieval_finished'),
    retrievalId,
    /** Null if the search failed; `error` is then set. */
    context: retrievalContextSchema.nullable(),
    error: errorResponseSchema.nullable(),
  }),
  z.object({ type: z.literal('text_delta'), delta: z.string() }),
  /** The text since the last tool call is void: its stream failed, and the model answers again. */
  z.object({ type: z.literal('text_discarded') }),
  z.object({ type: z.literal('tool_call'), call: toolCallSchema }),
  z.object({ type: z.literal('citations'), citations: z.array(citationSchema) }),
  z.object({ type: z.literal('turn_completed'), turn: conversationTurnSchema }),
  z.object({ type: z.literal('error'), error: errorResponseSchema }),
  z.object({
    type: z.literal('notice'),
    message: z.string().min(1),
    /** Set if the notice announces a retry. */
    retry: retrySchema.optional(),
  }),
]);
export type RunEvent = z.infer<typeof runEventSchema>;
