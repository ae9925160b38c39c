import * as z from 'zod';
import { searchKindSchema } from './report-case.ts';
import { armName, caseId, count, interval, metricId, number } from './schema-parts.ts';

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
  /** What of these is proven neither way. */
  undecided: z.array(metricId).default([]),
});
export type Standing = z.infer<typeof standingSchema>;

/** What to do, as far as the cases bear it out. */
export const decisionSchema = z.strictObject({
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

export const comparisonSchema = z.strictObject({
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
export const searchWorthSchema = z.strictObject({
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
