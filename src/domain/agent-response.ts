import * as z from 'zod';
import { errorResponseSchema } from '../faults/error-response.ts';
import { isClosestPassagesAnswer, saysNoInformation } from './abstention.ts';
import { checkedBySchema, checkedSentenceSchema } from './checked-sentence.ts';
import { type Citation, citationSchema, isPassedCitation } from './citation.ts';
import type { RetrievalContext } from './retrieval-context.ts';
import { sourceUrlSchema } from './retrieved-chunk.ts';

export const tokensUsedSchema = z.object({
  prompt: z.int().min(0),
  completion: z.int().min(0),
  total: z.int().min(0),
  /** Set if the service did not count all tokens of the turn. */
  estimated: z.literal(true).optional(),
});
export type TokensUsed = z.infer<typeof tokensUsedSchema>;

export const confidenceSchema = z.enum(['high', 'low', 'none']);
type Confidence = z.infer<typeof confidenceSchema>;

/** An answer, only the closest passages, or the statement that the documents have no answer. */
export const outcomeSchema = z.enum(['answer', 'passages', 'none']);
export type AnswerOutcome = z.infer<typeof outcomeSchema>;

/** Why the model stopped; `max_steps` if it had no step left to answer in. */
export const finishReasonSchema = z.enum(['stop', 'length', 'content_filter', 'max_steps']);
export type FinishReason = z.infer<typeof finishReasonSchema>;

/** The answer to one question with its citations, checks, tokens and times. */
export const agentResponseSchema = z
  .object({
    answer: z.string(),
    citations: z.array(citationSchema),
    /** The sentences of the answer with their verdicts; empty in records of early versions. */
    sentences: z.array(checkedSentenceSchema).default([]),
    checkedBy: checkedBySchema.default('words'),
    /** The object that the model answered with, if the agent has an output schema. */
    output: z.unknown().optional(),
    query: z.string(),
    sessionId: z.uuidv4(),
    turnNumber: z.int().min(1),
    retrievalPerformed: z.boolean(),
    /** Executions of the document tools, failed ones too, plus a search made before the model was called. */
    retrievalCount: z.int().min(0),
    /** The chunks that were retrieved, without duplicates; 0 in records of early versions. */
    chunkCount: z.int().min(0).default(0),
    /** The URLs of all retrieved chunks, without duplicates. */
    retrievedSources: z.array(sourceUrlSchema),
    model: z.string().min(1),
    tokensUsed: tokensUsedSchema,
    grounded: z.boolean(),
    outcome: outcomeSchema.default('answer'),
    confidence: confidenceSchema,
    /** With any other reason than `stop`, the answer is not grounded and `error` is set. */
    finishReason: finishReasonSchema.default('stop'),
    retrievalTimeMs: z.number().min(0),
    generationTimeMs: z.number().min(0),
    totalTimeMs: z.number().min(0),
    error: errorResponseSchema.nullable(),
    timestamp: z.iso.datetime(),
  })
  // Early versions did not record the outcome.
  .overwrite((response) =>
    response.outcome === 'answer' ? { ...response, outcome: classifyOutcome(response.answer) } : response,
  )
  .refine(
    ({ grounded, outcome, citations, finishReason }) =>
      !grounded || (finishReason === 'stop' && isGrounded(outcome, citations)),
    { error: 'only a complete answer with a citation that passed is grounded', path: ['grounded'] },
  );
export type AgentResponse = z.infer<typeof agentResponseSchema>;

/** Confidence in the retrieval: `high` if a score reached the threshold, `low` if something was found, else `none`. */
export function toConfidence(
  retrievals: readonly Pick<RetrievalContext, 'chunks' | 'nearMiss' | 'hasRelevantResults'>[],
): Confidence {
  if (retrievals.some(({ hasRelevantResults }) => hasRelevantResults)) return 'high';
  const hasFound = retrievals.some(({ chunks, nearMiss }) => chunks.length > 0 || (nearMiss?.score ?? 0) > 0);
  return hasFound ? 'low' : 'none';
}

/** The outcome, from the first sentence of an answer. `phrases` are further ways to say that there is no information. */
export function classifyOutcome(answer: string, phrases: readonly string[] = []): AnswerOutcome {
  if (isClosestPassagesAnswer(answer)) return 'passages';
  return answer.trim() === '' || saysNoInformation(answer, phrases) ? 'none' : 'answer';
}

/** Whether an answer has a citation that is not flagged. The closest passages are never grounded. */
export function isGrounded(outcome: AnswerOutcome, citations: readonly Citation[]): boolean {
  return outcome === 'answer' && citations.some(isPassedCitation);
}
