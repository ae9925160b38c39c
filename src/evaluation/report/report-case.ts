import * as z from 'zod';
import { goldPinSchema, historyMessageSchema } from '../cases/evaluation-case.ts';
import { caseRunSchema } from './case-run.ts';
import { armName, caseId, metricId, number } from './schema-parts.ts';

/**
 * What searching was worth in a turn, by the same question without it: needed (right with it alone), idle (the same
 * either way), harmful (right without it alone); and of a turn that did not search: missed (a search would have made
 * it right) or spared.
 */
export const searchKindSchema = z.enum(['needed', 'idle', 'harmful', 'missed', 'spared']);
export type SearchKind = z.infer<typeof searchKindSchema>;

const caseResultSchema = z.strictObject({
  /** One a repeat, in order; never empty. */
  runs: z.array(caseRunSchema).min(1),
  /** Each metric of this case over its repeats; null where the case has no part in it. */
  metrics: z.record(metricId, number.nullable()),
  /** Null where no arm that differs in its policy alone decided otherwise, or the case does not say what is right. */
  search: searchKindSchema.nullable(),
});
export type CaseResult = z.infer<typeof caseResultSchema>;

export const reportCaseSchema = z.strictObject({
  id: caseId,
  question: z.string(),
  /** Cases of the same conversation are not independent. */
  conversation: z.string(),
  history: z.array(historyMessageSchema),
  tags: z.array(z.string()),
  answerable: z.boolean().nullable(),
  needsRetrieval: z.boolean().nullable(),
  expected: z.strictObject({
    sources: z.array(z.string()),
    chunks: z.array(z.string()),
    phrases: z.array(z.string()),
    forbidden: z.array(z.string()),
    answers: z.array(z.string()),
    /** What its own checks are called. */
    checks: z.array(z.string()),
  }),
  /** What its gold rested on, and what tells the same gold again; null where that was not noted. */
  gold: z
    .strictObject({ key: z.string(), pins: z.array(goldPinSchema) })
    .nullable()
    .default(null),
  /** By the name of the arm; every arm has every case. */
  results: z.record(armName, caseResultSchema),
});
export type ReportCase = z.infer<typeof reportCaseSchema>;
