import * as z from 'zod';
import { policySchema } from '../../domain/agent-config.ts';
import { renameLegacyFields } from '../../domain/migrate-record.ts';
import { scoreSchema } from '../../domain/retrieved-chunk.ts';
import { comparisonSchema, decisionSchema, searchWorthSchema } from './comparison.ts';
import { metricInfoSchema, metricValueSchema } from './metric-value.ts';
import { reportCaseSchema } from './report-case.ts';
import { armName, caseId, count, metricId, number } from './schema-parts.ts';

/** Raised with every change that a reader of older reports would misread. */
export const REPORT_FORMAT = 'citeloop-evaluation/3';
const PREVIOUS_FORMAT = 'citeloop-evaluation/2';

/** One way to run the cases. The first arm is what the others are compared with. */
const armSchema = z.strictObject({
  name: armName,
  settings: z.strictObject({
    model: z.string().min(1),
    policy: policySchema,
    mode: z.enum(['hybrid', 'dense', 'lexical']),
    topK: z.int().min(1),
    scoreThreshold: scoreSchema,
    rerank: z.boolean(),
    temperature: number,
    maxSteps: z.int().min(1),
  }),
  /** Every other setting that was in force; texts by a hash of them. Empty where that was not noted. */
  otherSettings: z.record(z.string(), z.union([z.string(), number, z.boolean(), z.null()])).default({}),
  /** What sets it apart from the other arms, by the name of the setting. */
  changed: z.record(z.string(), z.union([z.string(), number, z.boolean()])),
  /** Every metric of the report, by its id. */
  metrics: z.record(metricId, metricValueSchema),
  /** Values over the cases of one tag, without intervals; null where there is no data. */
  tags: z.record(z.string(), z.strictObject({ n: count, metrics: z.record(metricId, number.nullable()) })),
  /** Runs that ended in an error; they count as failed where a metric needs an answer. */
  errors: count,
  /** Cases that were asked several times and answered correctly at some of them only. */
  flaky: z.array(z.strictObject({ id: caseId, right: count, runs: count })),
});
export type Arm = z.infer<typeof armSchema>;

const gateResultSchema = z.strictObject({
  /** As it was asked for. */
  gate: z.string().min(1),
  arm: armName,
  passed: z.boolean(),
  /** One line: what was required and what was measured. */
  line: z.string().min(1),
});
export type GateResult = z.infer<typeof gateResultSchema>;

/** A finished evaluation (one arm) or comparison (several). All that the tables, the page and JUnit show. */
export const reportDataSchema = z.strictObject({
  format: z.literal(REPORT_FORMAT),
  kind: z.enum(['evaluation', 'comparison']),
  header: z.strictObject({
    program: z.literal('citeloop'),
    version: z.string().min(1),
    /** The models of the arms, each once. */
    models: z.array(z.string().min(1)).min(1),
    collection: z.strictObject({
      name: z.string().min(1),
      documents: count,
      chunks: count,
      embedder: z.string(),
      /** The same for the same documents at the same places; null where that was not noted. */
      fingerprint: z.string().nullable().default(null),
    }),
    /** As it was named on the command line. */
    casesFile: z.string().min(1),
    /** SHA-256 of the cases, so that only reports on the same cases are compared. */
    casesHash: z.string().min(1),
    cases: count,
    repeat: z.int().min(1),
    /** Questions that were under way at a time: times are longer the more there are. */
    concurrency: z.int().min(1),
    seed: z.int().min(0),
    /** Differences that matter to nobody: of a share by so much, of the rest by that part of the first arm's value. */
    margin: number.min(0),
    /** How many conversations the cases are of; turns of one are not independent. */
    conversations: count,
    /** When it was finished. */
    date: z.iso.datetime(),
    durationMs: number.min(0),
    /** What was asked for anew, and what it took; answers that an interrupted run had left cost nothing again. */
    totals: z.strictObject({
      turns: count,
      reused: count,
      tokens: count,
      /** Null where no price is known. */
      money: number.min(0).nullable(),
      judge: z.strictObject({ tokens: count, money: number.min(0).nullable() }).nullable(),
    }),
    /** The currency of costs, by the price file. */
    currency: z.string().nullable(),
    judge: z.string().nullable(),
  }),
  /** Null for a single arm, or where no case says what is right. */
  decision: decisionSchema.nullable(),
  /** The sentences on top. */
  verdict: z.array(z.string()).min(1),
  /** What a person should know before trusting the numbers: few cases, errors, gold that is missing. */
  notes: z.array(z.string()),
  metrics: z.array(metricInfoSchema),
  arms: z.array(armSchema).min(1),
  /** One for each arm after the first. */
  comparisons: z.array(comparisonSchema),
  /** For arms that another one with another policy, and nothing else, can be held against. */
  searchWorth: z.array(searchWorthSchema),
  gates: z.array(gateResultSchema),
  cases: z.array(reportCaseSchema),
});
export type ReportData = z.infer<typeof reportDataSchema>;

/** What the HTML page reads. No text in it contains control characters or marks that reorder text. */
export interface ReportPageData extends ReportData {
  /** The result in one line. */
  finding: string;
}

/** A parsed report file with the fields of the current format; other values are returned unchanged. */
export function migrateReport(value: unknown): unknown {
  if ((value as { format?: unknown } | null)?.format !== PREVIOUS_FORMAT) return value;
  const { calibrations: _, ...report } = value as Record<string, unknown>;
  return renameLegacyFields({ ...report, format: REPORT_FORMAT });
}
