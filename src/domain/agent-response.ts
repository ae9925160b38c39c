import * as z from 'zod';
import { type Citation, citationPassed, citationSchema } from './citation.ts';
import { errorResponseSchema } from './error-response.ts';

export const tokensUsedSchema = z.object({
  prompt: z.int().min(0),
  completion: z.int().min(0),
  total: z.int().min(0),
});
export type TokensUsed = z.infer<typeof tokensUsedSchema>;

export const confidenceSchema = z.enum(['high', 'low', 'none']);
export type Confidence = z.infer<typeof confidenceSchema>;

/** The answer to one question, with all that is known about how it came about. */
export const agentResponseSchema = z
  .object({
    answer: z.string(),
    citations: z.array(citationSchema),
    query: z.string(),
    sessionId: z.uuidv4(),
    turnNumber: z.int().min(1),
    retrievalPerformed: z.boolean(),
    retrievalCount: z.int().min(0),
    /** The URL of every source that came back, once. */
    retrievedSources: z.array(z.string()),
    model: z.string().min(1),
    tokensUsed: tokensUsedSchema,
    grounded: z.boolean(),
    confidence: confidenceSchema,
    retrievalTimeMs: z.number().min(0),
    generationTimeMs: z.number().min(0),
    totalTimeMs: z.number().min(0),
    error: errorResponseSchema.nullable(),
    timestamp: z.iso.datetime(),
  })
  .refine((response) => !response.grounded || response.citations.some(citationPassed), {
    error: 'a grounded answer needs a citation that passed',
    path: ['grounded'],
  })
  .refine((response) => response.retrievalPerformed === response.retrievalCount > 0, {
    error: 'retrievalPerformed must agree with retrievalCount',
    path: ['retrievalPerformed'],
  });
export type AgentResponse = z.infer<typeof agentResponseSchema>;

/** How near the best of what came back was to the question. */
export function confidenceOf(scores: readonly number[], threshold: number): Confidence {
  if (scores.length === 0) return 'none';
  const best = Math.max(...scores);
  if (best >= threshold) return 'high';
  return best > 0 ? 'low' : 'none';
}

/** Computed from the verdicts, never claimed by the model. */
export function isGrounded(answer: string, citations: readonly Citation[]): boolean {
  return !saysNoInformation(answer) && citations.some(citationPassed);
}

export function noInformationAbout(topic: string): string {
  return `I don't have information about ${topic}.`;
}

/** Whether an answer opens by saying so; a remark at the end of a real answer does not count. */
export function saysNoInformation(answer: string): boolean {
  return /^\W*(?:(?:i['’]m|i am) sorry,? (?:but )?)?i (?:don['’]t|do not) have (?:any |enough )?information\b/i.test(
    answer,
  );
}
