import * as z from 'zod';
import { policySchema } from '../../domain/agent-config.ts';
import { confidenceSchema, tokensUsedSchema } from '../../domain/agent-response.ts';
import { verdictSchema } from '../../domain/citation.ts';
import { filterSchema } from '../../domain/query.ts';
import { scoreSchema } from '../../domain/retrieved-chunk.ts';
import { errorResponseSchema } from '../../faults/error-response.ts';
import { historyMessageSchema } from '../cases/evaluation-case.ts';

/** Changes whenever a reader of older data would go wrong. */
export const REPORT_FORMAT = 'citeloop-evaluation/2';

/** JSON knows no NaN and no infinity, and neither does zod's number: what is not known is null or "no data". */
const number = z.number();
const count = z.int().min(0);
const interval = z.tuple([number, number]);
const armName = z.string().min(1);
const metricId = z.string().min(1);
const caseId = z.string().min(1);

/** What a metric is, once for the whole report, in the order in which to show them. */
const metricInfoSchema = z.strictObject({
  /** `citation.precision` and the like: what gates and baselines name. */
  id: metricId,
  label: z.string().min(1),
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
    'judge',
  ]),
  /** How values read: a share of 1, a plain number, tokens, money by the price file, milliseconds. */
  unit: z.enum(['share', 'number', 'tokens', 'money', 'ms']),
  better: z.enum(['higher', 'lower']),
  /** Binary: each case passes or not. Mean: the average over cases. Ratio: a sum over cases by another sum. */
  kind: z.enum(['binary', 'mean', 'ratio']),
  /** One sentence: what it says. */
  description: z.string().min(1),
});
export type MetricInfo = z.infer<typeof metricInfoSchema>;

/** A value over `n` cases with its 95 % interval (null below two cases), or why there is none. */
const metricValueSchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('value'), value: number, interval: interval.nullable(), n: count }),
  z.strictObject({ status: z.literal('no data'), reason: z.string().min(1) }),
]);
export type MetricValue = z.infer<typeof metricValueSchema>;

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
      unborne: z.array(z.strictObject({ start: count, end: count })).default([]),
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

/**
 * What searching was worth in a turn, by the same question without it: needed (right with it alone), idle (the same
 * either way), harmful (right without it alone); and of a turn that did not search: missed (a search would have made
 * it right) or spared.
 */
const searchKindSchema = z.enum(['needed', 'idle', 'harmful', 'missed', 'spared']);
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

const reportCaseSchema = z.strictObject({
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
  /** By the name of the arm; every arm has every case. */
  results: z.record(armName, caseResultSchema),
});
export type ReportCase = z.infer<typeof reportCaseSchema>;

/** One metric of an arm against the first arm, on the cases that have it in both. */
const metricComparisonSchema = z.strictObject({
  metric: metricId,
  /** McNemar's exact one where independent cases pass or fail; swaps of arms, whole conversations at a time, else. */
  test: z.enum(['mcnemar', 'swaps']),
  /** Pairs. */
  n: count,
  /** The arm minus the first arm. */
  difference: number,
  interval: interval.nullable(),
  /** Null where so few cases differ that no split of them could prove anything. */
  p: number.min(0).max(1).nullable(),
  /** After Holm's correction over the metrics of all arms: the one p that is shown. */
  adjustedP: number.min(0).max(1).nullable(),
  /**
   * What the cases bear out: proven better or worse; proven to be within the margin; neither; or so few cases differ
   * that nothing could be proven.
   */
  conclusion: z.enum(['better', 'worse', 'equivalent', 'undecided', 'too few']),
  /** About how many more cases would decide it; null where it is decided, or no number would. */
  needed: count.nullable(),
  /**
   * Cohen's g for McNemar, d of the paired differences otherwise; null where nothing varies. The size is the least
   * that the interval leaves of it, and unclear where that may be either way.
   */
  effect: z.strictObject({
    name: z.enum(['g', 'd']),
    value: number.nullable(),
    size: z.enum(['unclear', 'none', 'small', 'medium', 'large']),
  }),
  /** Cases on which this arm is better than the first, and worse. */
  better: z.array(caseId),
  worse: z.array(caseId),
});
export type MetricComparison = z.infer<typeof metricComparisonSchema>;

/** Where an arm stands against the first, by what matters. */
const standingSchema = z.strictObject({
  /** Of the answers; null where no case says what is right. */
  answers: metricComparisonSchema.shape.conclusion.nullable(),
  /** Besides the answers, what it is proven better and worse in: abstention, needless and missing searches, price. */
  gains: z.array(metricId),
  losses: z.array(metricId),
});
export type Standing = z.infer<typeof standingSchema>;

/** What to do, as far as the cases bear it out. */
const decisionSchema = z.strictObject({
  /**
   * take: the arm is proven to answer more, or as many with gains and no losses. keep: no arm is. either: nothing sets
   * them apart. weigh: as many answers, with gains and losses. undecided: more cases are needed.
   */
  kind: z.enum(['take', 'keep', 'either', 'weigh', 'undecided']),
  /** The arms that it is about: one to take, the first to keep, otherwise those beside the first. */
  arms: z.array(armName).min(1),
  /** About how many more cases would decide it. */
  needed: count.nullable(),
});
export type Decision = z.infer<typeof decisionSchema>;

const comparisonSchema = z.strictObject({
  baseline: armName,
  arm: armName,
  /** In the order of the report's metrics; those without pairs are left out. */
  metrics: z.array(metricComparisonSchema),
  standing: standingSchema,
  /** What a person can act on, the most important first. */
  verdict: z.array(z.string()).min(1),
});
export type Comparison = z.infer<typeof comparisonSchema>;

/** Right with a search against right without, on the turns of an arm that searched, or on those that did not. */
const searchEvidenceSchema = metricComparisonSchema.pick({
  n: true,
  difference: true,
  interval: true,
  adjustedP: true,
  conclusion: true,
});

/** What the searches of an arm were worth, turn by turn. */
const searchWorthSchema = z.strictObject({
  arm: armName,
  /** Those that there are, with what a search adds to such a turn on average; null where that is not known. */
  kinds: z.array(
    z.strictObject({
      kind: searchKindSchema,
      turns: count,
      tokens: number.nullable(),
      money: number.nullable(),
      ms: number.nullable(),
    }),
  ),
  /** Turns of which nothing can be said. */
  unknown: count,
  searched: searchEvidenceSchema.nullable(),
  notSearched: searchEvidenceSchema.nullable(),
  /** The same in sentences. */
  verdict: z.array(z.string()),
});
export type SearchWorth = z.infer<typeof searchWorthSchema>;

/** What would be if an answer were withheld whenever the best score stays below a threshold. */
const calibrationSchema = z.strictObject({
  arm: armName,
  /** The threshold that was in force. */
  current: scoreSchema,
  /** The one with the best F1; null without data. */
  best: scoreSchema.nullable(),
  /** Cases that searched and say whether they are answerable. */
  n: count,
  /** Ascending. A value is null where it divides by nothing. */
  points: z.array(
    z.strictObject({
      threshold: scoreSchema,
      precision: number.nullable(),
      recall: number.nullable(),
      f1: number.nullable(),
    }),
  ),
});
export type Calibration = z.infer<typeof calibrationSchema>;

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
  calibrations: z.array(calibrationSchema),
  gates: z.array(gateResultSchema),
  cases: z.array(reportCaseSchema),
});
export type ReportData = z.infer<typeof reportDataSchema>;
