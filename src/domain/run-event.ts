import * as z from 'zod';
import { errorResponseSchema } from '../faults/error-response.ts';
import { citationSchema } from './citation.ts';
import { toolCallSchema } from './conversation-message.ts';
import { conversationTurnSchema } from './conversation-turn.ts';
import { filterSchema } from './query.ts';
import { retrievalContextSchema } from './retrieval-context.ts';

export const phaseSchema = z.enum(['idle', 'retrieving', 'generating', 'error']);
export type Phase = z.infer<typeof phaseSchema>;

// A turn may begin with the model, and the model may ask for another search, so the two working phases
// alternate freely.
const nextPhases: Record<Phase, readonly Phase[]> = {
  idle: ['retrieving', 'generating', 'error'],
  retrieving: ['generating', 'error'],
  generating: ['retrieving', 'idle', 'error'],
  error: ['idle'],
};

export function canFollow(from: Phase, to: Phase): boolean {
  return nextPhases[from].includes(to);
}

/** The retrieval that an event belongs to; the id of the tool call where a tool asked for it. */
const retrievalId = z.string().min(1);

/** What went wrong, and which attempt from 1 follows after how long. */
const retrySchema = z.object({
  attempt: z.int().min(1),
  waitMs: z.number().min(0),
  error: errorResponseSchema,
});

/** All that a turn tells the outside, in the order in which it happens. */
export const runEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('phase'), from: phaseSchema, to: phaseSchema }),
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
    /** Null when the search failed; the error then says why. */
    context: retrievalContextSchema.nullable(),
    error: errorResponseSchema.nullable(),
  }),
  z.object({ type: z.literal('text_delta'), delta: z.string() }),
  z.object({ type: z.literal('tool_call'), call: toolCallSchema }),
  z.object({ type: z.literal('citations'), citations: z.array(citationSchema) }),
  z.object({ type: z.literal('turn_completed'), turn: conversationTurnSchema }),
  z.object({ type: z.literal('error'), error: errorResponseSchema }),
  z.object({
    type: z.literal('notice'),
    message: z.string().min(1),
    /** Where the notice says that something is tried again. */
    retry: retrySchema.optional(),
  }),
]);
export type RunEvent = z.infer<typeof runEventSchema>;
