import * as z from 'zod';
import { policySchema } from '../../domain/agent-config.ts';
import { renameLegacyFields } from '../../domain/migrate-record.ts';
import { scoreSchema } from '../../domain/retrieved-chunk.ts';
import { advice, viaCommand } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { historyMessageSchema } from '../cases/evaluation-case.ts';
import { caseRunSchema } from './case-run.ts';

/** Raised with every change that a reader of older reports would misread. Fields of older reports are ignored. */
export const REPORT_FORMAT = 'citeloop-evaluation/4';
const OLDER_FORMATS: readonly unknown[] = ['citeloop-evaluation/2', 'citeloop-evaluation/3'];

const number = z.number();
const count = z.int().min(0);
const interval = z.tuple([number, number]);
const name = z.string().min(1);

/** A metric of the report. */
export const metricInfoSchema = z.object({
  /** As gates name it, for example `citation.precision`. */
  id: name,
  label: name,
  group: z.enum([
    'answer',
    'repeat',
    'retrieval',
    'citation',
    'abstention',
    'decision',
    'effort',
    'cost',
    'time',
  ]),
  unit: z.enum(['share', 'number', 'tokens', 'money', 'ms']),
  better: z.enum(['higher', 'lower']),
  /** Binary: each case passes or fails. Mean: average over cases. Ratio: a sum over cases divided by another. */
  kind: z.enum(['binary', 'mean', 'ratio']),
  description: name,
  /** Whether pairs of arms are tested in it; the others are descriptive. */
  primary: z.boolean().default(false),
});
export type MetricInfo = z.infer<typeof metricInfoSchema>;

/** A value over `n` cases with its 95 % interval, which is null below two cases; or why there is none. */
const metricValueSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('value'), value: number, interval: interval.nullable(), n: count }),
  z.object({ status: z.literal('no data'), reason: name }),
]);
export type MetricValue = z.infer<typeof metricValueSchema>;

/** One way to run the cases. The first two arms are the question. */
const armSchema = z.object({
  name,
  /** Null for an arm from code. */
  settings: z
    .object({
      model: name,
      policy: policySchema,
      mode: z.enum(['hybrid', 'dense', 'lexical']),
      topK: z.int().min(1),
      scoreThreshold: scoreSchema,
      rerank: z.boolean(),
      temperature: number,
      maxSteps: z.int().min(1),
    })
    .nullable(),
  /** All other settings, long texts as a hash. Empty in old reports. */
  otherSettings: z.record(z.string(), z.union([z.string(), number, z.boolean(), z.null()])).default({}),
  /** The settings that this arm changes. */
  changed: z.record(z.string(), z.union([z.string(), number, z.boolean()])),
  /** By metric id. */
  metrics: z.record(name, metricValueSchema),
  /** Values over the cases of one tag; null without data. */
  tags: z.record(z.string(), z.object({ n: count, metrics: z.record(name, number.nullable()) })),
  /** Failed runs. They count as wrong in metrics that need an answer. */
  errors: count,
  /** Cases answered correctly in some of their runs only. */
  flaky: z.array(z.object({ id: name, right: count, runs: count })),
});
export type ReportArm = z.infer<typeof armSchema>;

/** One primary metric of an arm compared with another, on the cases that have it in both. */
const metricComparisonSchema = z.object({
  metric: name,
  /** McNemar's exact test for pass-or-fail metrics on independent cases, else permutation by conversation. */
  test: z.enum(['mcnemar', 'permutation']),
  /** Number of pairs. */
  n: count,
  /** The arm minus the baseline. */
  difference: number,
  /** Excludes 0 exactly if `adjustedP` is below 0.05. */
  interval: interval.nullable(),
  /** The level of the interval: 0.95, corrected like p. */
  level: number.min(0).max(1),
  /** Null if so few cases differ that no result could be significant. */
  p: number.min(0).max(1).nullable(),
  /** After Holm's correction over the metrics of the question, or over those of all other pairs. */
  adjustedP: number.min(0).max(1).nullable(),
  /** Better, worse and equivalent are proven; `too few` cannot be proven because too few cases differ. */
  conclusion: z.enum(['better', 'worse', 'equivalent', 'undecided', 'too few']),
  /** About how many more cases would decide it; null if it is decided, or no number would. */
  needed: count.nullable(),
  /** Cases on which this arm is better and worse than the baseline; of shares only. */
  better: z.array(name),
  worse: z.array(name),
});
export type MetricComparison = z.infer<typeof metricComparisonSchema>;

const comparisonSchema = z.object({
  baseline: name,
  arm: name,
  /** The primary metrics in the order of the report, without those that have no pairs. */
  metrics: z.array(metricComparisonSchema),
  /** In one sentence. */
  verdict: name,
});
export type ArmComparison = z.infer<typeof comparisonSchema>;

const recommendationSchema = z.object({
  /**
   * use: one arm answers more than the others, or as many at a lower price. either: as many, and nothing else differs.
   * weigh: as many, each with gains and losses. undecided: more cases are needed.
   */
  kind: z.enum(['use', 'either', 'weigh', 'undecided']),
  /** The arms that no other arm is proven to beat. */
  arms: z.array(name).min(1),
  /** About how many more cases would decide it. */
  needed: count.nullable(),
});
export type Recommendation = z.infer<typeof recommendationSchema>;

const caseResultSchema = z.object({
  /** One per repeat, in order. */
  runs: z.array(caseRunSchema).min(1),
  /** Metrics of this case over its runs; null if it does not count. */
  metrics: z.record(name, number.nullable()),
});
export type CaseResult = z.infer<typeof caseResultSchema>;

const reportCaseSchema = z.object({
  id: name,
  question: z.string(),
  /** Cases of one conversation are not independent. */
  conversation: z.string(),
  history: z.array(historyMessageSchema),
  tags: z.array(z.string()),
  answerable: z.boolean().nullable(),
  needsRetrieval: z.boolean().nullable(),
  expected: z.object({
    sources: z.array(z.string()),
    chunks: z.array(z.string()),
    phrases: z.array(z.string()),
    forbidden: z.array(z.string()),
    answers: z.array(z.string()),
    /** Names of the custom checks. */
    checks: z.array(z.string()),
  }),
  /** By arm name. */
  results: z.record(name, caseResultSchema),
});
export type ReportCase = z.infer<typeof reportCaseSchema>;

const gateResultSchema = z.object({
  /** As written on the command line. */
  gate: name,
  arm: name,
  passed: z.boolean(),
  /** What was required and what was measured. */
  line: name,
});
export type GateResult = z.infer<typeof gateResultSchema>;

const headerSchema = z.object({
  program: z.literal('citeloop'),
  version: name,
  /** Distinct models of the arms. */
  models: z.array(name).min(1),
  collection: z.object({
    name,
    documents: count,
    chunks: count,
    embedder: z.string(),
    /** Hash of all documents; null if not known. */
    fingerprint: z.string().nullable().default(null),
  }),
  casesFile: name,
  /** SHA-256 of the cases. */
  casesHash: name,
  cases: count,
  repeat: z.int().min(1),
  /** Parallel questions, which lengthen the times. */
  concurrency: z.int().min(1),
  seed: z.int().min(0),
  /** Equivalence margin: absolute for shares, else relative to the value of the baseline. */
  margin: number.min(0),
  /** The number of distinct conversations. */
  conversations: count,
  date: z.iso.datetime(),
  durationMs: number.min(0),
  /** Cost of this run; answers reused from an interrupted run cost nothing. */
  totals: z.object({
    turns: count,
    reused: count,
    tokens: count,
    /** Null without prices. */
    money: number.min(0).nullable(),
    grading: z
      .object({ tokens: count, money: number.min(0).nullable() })
      .nullable()
      .default(null),
  }),
  currency: z.string().nullable(),
  /** The model that grades answers, and how many of the grades given by hand it agrees with. */
  grader: z
    .object({ model: name, agreement: z.object({ agreed: count, graded: count }).nullable() })
    .nullable()
    .default(null),
});

/** A finished evaluation (one arm) or comparison (several), with everything that its views show. */
export const reportDataSchema = z.object({
  format: z.literal(REPORT_FORMAT),
  kind: z.enum(['evaluation', 'comparison']),
  header: headerSchema,
  /** Null for a single arm, or if no case can be judged. */
  decision: recommendationSchema.nullable(),
  /** Sentences, the most important first. */
  verdict: z.array(z.string()).min(1),
  /** Warnings: few cases, failed runs, a model that grades itself. */
  notes: z.array(z.string()),
  metrics: z.array(metricInfoSchema),
  arms: z.array(armSchema).min(1),
  /** All pairs of arms. The first is the question: the first two arms. */
  comparisons: z.array(comparisonSchema),
  gates: z.array(gateResultSchema),
  cases: z.array(reportCaseSchema),
});
export type ReportData = z.infer<typeof reportDataSchema>;

/** An older report in the current format, without its comparisons; other values are returned unchanged. */
export function migrateReport(value: unknown): unknown {
  if (!OLDER_FORMATS.includes((value as { format?: unknown } | null)?.format)) return value;
  // Older comparisons were tested differently; runs and metrics are the same.
  return renameLegacyFields({ ...(value as object), format: REPORT_FORMAT, decision: null, comparisons: [] });
}

/** Parses a report that `--json` wrote, of this version or an older one. Throws `invalid_input`. */
export function parseReport(value: unknown, file: string): ReportData {
  const result = reportDataSchema.safeParse(migrateReport(value));
  if (result.success) return result.data;
  const place = result.error.issues[0]?.path.map(String).join('.');
  throw new AppError(
    'invalid_input',
    `${file} is not a report of this program${place ? ` (at ${place})` : ''}.`,
    {
      hint: advice`Create one of format ${REPORT_FORMAT}${viaCommand('eval <cases>', { json: file })}`,
    },
  );
}
