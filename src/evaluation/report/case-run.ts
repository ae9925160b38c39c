import * as z from 'zod';
import { confidenceSchema, tokensUsedSchema } from '../../domain/agent-response.ts';
import { verdictSchema } from '../../domain/citation.ts';
import { filterSchema } from '../../domain/query.ts';
import { scoreSchema } from '../../domain/retrieved-chunk.ts';
import { errorResponseSchema } from '../../faults/error-response.ts';

const count = z.int().min(0);
const amount = z.number().min(0);

const reportChunkSchema = z.object({
  chunkId: z.string().min(1),
  title: z.string(),
  url: z.string().min(1),
  headings: z.array(z.string()),
  score: scoreSchema,
  excerpt: z.string(),
  /** Whether the case expects it; null without gold. */
  expected: z.boolean().nullable(),
});
export type ReportChunk = z.infer<typeof reportChunkSchema>;

/** One question asked once. */
export const caseRunSchema = z.object({
  /** From 1. */
  repeat: z.int().min(1),
  /** Empty if the run failed. */
  answer: z.string(),
  abstained: z.boolean(),
  grounded: z.boolean(),
  /** False for an arm from code, whose citations are not checked. */
  checked: z.boolean().default(true),
  confidence: confidenceSchema.nullable(),
  citations: z.array(
    z.object({
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
  /** The stating sentences of the answer; the verdict is null for one without citations. */
  sentences: z.array(
    z.object({
      text: z.string(),
      markers: z.array(z.string()),
      verdict: verdictSchema.nullable(),
      /** Why it is flagged. */
      reason: z.string().nullable().default(null),
    }),
  ),
  retrievals: z.array(
    z.object({
      query: z.string(),
      filter: filterSchema,
      scoreThreshold: scoreSchema,
      totalFound: count,
      /** Best first. */
      chunks: z.array(reportChunkSchema),
      /** The best result below the threshold, if none reached it. */
      nearMiss: reportChunkSchema.nullable(),
      timeMs: amount,
    }),
  ),
  /** Includes failed searches. */
  searches: count,
  /** Searches that repeat an earlier one of the turn. */
  duplicateSearches: count,
  /** Model responses, and searches made beforehand. */
  steps: count,
  tokens: tokensUsedSchema,
  /** Null without a price. */
  cost: amount.nullable(),
  timesMs: z.object({
    /** From the question to the first text of the answer. */
    firstToken: amount.nullable(),
    retrieval: amount,
    generation: amount,
    total: amount,
  }),
  /** By a model against the expected answer; null if none graded it. */
  grade: z
    .object({ correct: z.boolean(), reason: z.string(), tokens: count, cost: amount.nullable() })
    .nullable()
    .default(null),
  /** Results of the custom checks in their order, with the cost of the model. */
  checks: z.array(
    z.object({
      check: z.string(),
      passed: z.boolean(),
      reason: z.string(),
      tokens: count,
      cost: amount.nullable(),
    }),
  ),
  error: errorResponseSchema.nullable(),
});
export type CaseRun = z.infer<typeof caseRunSchema>;
