import * as z from 'zod';
import { errorResponseSchema } from '../faults/error-response.ts';
import { saysNoInformation, showsPassages } from './abstention.ts';
import { checkedBySchema, checkedSentenceSchema } from './checked-sentence.ts';
import { type Citation, citationPassed, citationSchema } from './citation.ts';
import { addressSchema } from './retrieved-chunk.ts';

export const tokensUsedSchema = z.object({
  prompt: z.int().min(0),
  completion: z.int().min(0),
  total: z.int().min(0),
  /** Where the service did not say, at least for a part of the turn. */
  estimated: z.literal(true).optional(),
});
export type TokensUsed = z.infer<typeof tokensUsedSchema>;

export const confidenceSchema = z.enum(['high', 'low', 'none']);
type Confidence = z.infer<typeof confidenceSchema>;

/**
 * What an answer comes to: an answer; the closest passages, said to be no more than that; or nothing, since the documents
 * were found not to say it.
 */
export const outcomeSchema = z.enum(['answer', 'passages', 'none']);
export type Outcome = z.infer<typeof outcomeSchema>;

/** Why the model stopped: it was done, it was cut, its service withheld the rest, or it had no step left to answer in. */
export const finishReasonSchema = z.enum(['stop', 'length', 'content_filter', 'max_steps']);
export type FinishReason = z.infer<typeof finishReasonSchema>;

/** The answer to one question, with all that is known about how it came about. */
export const agentResponseSchema = z
  .object({
    answer: z.string(),
    citations: z.array(citationSchema),
    /** The sentences of the answer, each with its verdict; none in records of earlier versions. */
    sentences: z.array(checkedSentenceSchema).default([]),
    checkedBy: checkedBySchema.default('words'),
    query: z.string(),
    sessionId: z.uuidv4(),
    turnNumber: z.int().min(1),
    retrievalPerformed: z.boolean(),
    retrievalCount: z.int().min(0),
    /** The URL of every source that came back, once. */
    retrievedSources: z.array(addressSchema),
    model: z.string().min(1),
    tokensUsed: tokensUsedSchema,
    grounded: z.boolean(),
    outcome: outcomeSchema.default('answer'),
    confidence: confidenceSchema,
    /** The calibrated chance that the answer answers the question; null where nobody could tell. */
    answerProbability: z.number().min(0).max(1).nullable().default(null),
    /** An answer that did not end by itself is never grounded, and `error` says why. */
    finishReason: finishReasonSchema.default('stop'),
    retrievalTimeMs: z.number().min(0),
    generationTimeMs: z.number().min(0),
    totalTimeMs: z.number().min(0),
    error: errorResponseSchema.nullable(),
    timestamp: z.iso.datetime(),
  })
  // Records of earlier versions do not tell.
  .overwrite((response) =>
    response.outcome === 'answer' ? { ...response, outcome: outcomeOf(response.answer) } : response,
  )
  .refine((response) => response.answer.trim() !== '' || response.error !== null, {
    error: 'an answer is blank only where an error says why',
    path: ['answer'],
  })
  .refine((response) => !response.grounded || response.citations.some(citationPassed), {
    error: 'a grounded answer needs a citation that passed',
    path: ['grounded'],
  })
  .refine((response) => !response.grounded || response.outcome === 'answer', {
    error: 'only an answer is grounded',
    path: ['grounded'],
  })
  .refine((response) => !response.grounded || response.finishReason === 'stop', {
    error: 'an answer that was cut is not grounded',
    path: ['grounded'],
  })
  .refine((response) => response.retrievalPerformed === response.retrievalCount > 0, {
    error: 'retrievalPerformed must agree with retrievalCount',
    path: ['retrievalPerformed'],
  });
export type AgentResponse = z.infer<typeof agentResponseSchema>;

/** From this chance on an answer is taken to answer; decisions/0020 says how often that is wrong. */
export const CONFIDENT_FROM = 0.75;

/** Whether an answer answers its question; what nobody could tell is never high. */
export function confidenceOf(hasFound: boolean, answerProbability: number | null): Confidence {
  if (!hasFound) return 'none';
  return answerProbability !== null && answerProbability >= CONFIDENT_FROM ? 'high' : 'low';
}

/** Told by how the answer opens. `phrases` are further ways to say that there is no answer. */
export function outcomeOf(answer: string, phrases: readonly string[] = []): Outcome {
  if (showsPassages(answer)) return 'passages';
  return answer.trim() === '' || saysNoInformation(answer, phrases) ? 'none' : 'answer';
}

/** Computed from the verdicts, never claimed by the model. Passages that may or may not answer are no grounded answer. */
export function isGrounded(outcome: Outcome, citations: readonly Citation[]): boolean {
  return outcome === 'answer' && citations.some(citationPassed);
}
