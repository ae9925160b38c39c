import * as z from 'zod';
import { confidenceSchema, tokensUsedSchema } from '../../domain/agent-response.ts';
import { verdictSchema } from '../../domain/citation.ts';
import { filterSchema } from '../../domain/query.ts';
import { scoreSchema } from '../../domain/retrieved-chunk.ts';
import { errorResponseSchema } from '../../faults/error-response.ts';
import { count, number } from './schema-parts.ts';

const chunkSchema = z.strictObject({
  chunkId: z.string().min(1),
  title: z.string(),
  url: z.string().min(1),
  headings: z.array(z.string()),
  score: scoreSchema,
  excerpt: z.string(),
  /** Whether the case expects it; null without gold. */
  expected: z.boolean().nullable(),
});
export type ReportChunk = z.infer<typeof chunkSchema>;

/** One question asked once. */
export const caseRunSchema = z.strictObject({
  /** From 1; above 1 with `--repeat`. */
  repeat: z.int().min(1),
  /** Empty if it ended in an error. */
  answer: z.string(),
  /** Whether the answer says that the documents do not hold it. */
  abstained: z.boolean(),
  grounded: z.boolean(),
  confidence: confidenceSchema.nullable(),
  citations: z.array(
    z.strictObject({
      marker: z.string().min(1),
      verdict: verdictSchema,
      chunkId: z.string().nullable(),
      title: z.string(),
      url: z.string(),
      score: scoreSchema,
      excerpt: z.string(),
      expected: z.boolean().nullable(),
    }),
  ),
  /** The sentences of the answer that state something; the verdict is null where nothing is cited. */
  sentences: z.array(
    z.strictObject({
      text: z.string(),
      markers: z.array(z.string()),
      verdict: verdictSchema.nullable(),
      /** The calibrated chance that people would call it supported; null where words alone were looked at. */
      probability: z.number().min(0).max(1).nullable().default(null),
      /** Words that nothing bears out: where they stand in the answer. */
      unsupportedSpans: z.array(z.strictObject({ start: count, end: count })).default([]),
    }),
  ),
  /** Quotes and numbers in sentences that cite something, and how many of them a cited chunk holds. */
  quotes: z.strictObject({ total: count, held: count }),
  numbers: z.strictObject({ total: count, held: count }),
  retrievals: z.array(
    z.strictObject({
      query: z.string(),
      filter: filterSchema,
      scoreThreshold: scoreSchema,
      totalFound: count,
      /** Best first. */
      chunks: z.array(chunkSchema),
      /** The best that stayed below the threshold, when nothing reached it. */
      nearMiss: chunkSchema.nullable(),
      timeMs: number.min(0),
    }),
  ),
  /** Searches made, failed ones included. */
  searches: count,
  /** Searches for what had been searched for already in this turn. */
  duplicateSearches: count,
  /** Answers of the model and searches made beforehand. */
  steps: count,
  /** The best score that any search found, below the threshold or not; null if none was made or nothing was there. */
  bestScore: scoreSchema.nullable(),
  tokens: tokensUsedSchema,
  /** By the price file; null without one. */
  cost: number.min(0).nullable(),
  /** firstToken: from the question to the first piece of the answer, null if there was none. */
  timesMs: z.strictObject({
    firstToken: number.min(0).nullable(),
    retrieval: number.min(0),
    generation: number.min(0),
    total: number.min(0),
  }),
  /** What the judging model thinks of its faithfulness, 0 to 1, once a judgement; null without a judge. */
  judge: z
    .strictObject({
      /** Empty if no judgement could be read. */
      scores: z.array(number.min(0).max(1)),
      reason: z.string(),
      tokens: tokensUsedSchema,
      cost: number.min(0).nullable(),
    })
    .nullable(),
  /** What became of the checks of the case, in their order; what a judge took for them. */
  checks: z.array(
    z.strictObject({
      check: z.string(),
      passed: z.boolean(),
      reason: z.string(),
      tokens: count,
      cost: number.min(0).nullable(),
    }),
  ),
  error: errorResponseSchema.nullable(),
});
export type CaseRun = z.infer<typeof caseRunSchema>;
