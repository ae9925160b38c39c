import type { CaseRun } from '../../evaluation/report/case-run.ts';
import { HEADLINE_METRIC } from '../../evaluation/report/format-metric.ts';
import { findHeadline } from '../../evaluation/report/recommend-arm.ts';
import type { ReportCase, ReportData } from '../../evaluation/report/report-data.ts';
import { isSupportedVerdict } from '../shared/verdict-labels.ts';

export interface CaseCriteria {
  /** Words that the id, question, tags or answers contain. */
  text: string;
  /** Empty for any. */
  tag: string;
  /** `all`, `differ`, or `better:<arm>` and `worse:<arm>`, compared with the first arm. */
  difference: string;
  outcome: CaseOutcome;
  /** The arm that has the outcome; null for any. */
  arm: string | null;
}

/** `score` is the headline metric of the case; null if it has none. */
type OutcomeTest = (runs: readonly CaseRun[], score: number | null) => boolean;

/** The label and the test of each outcome. */
export const CASE_OUTCOMES = {
  any: ['Any outcome', () => true],
  correct: ['Correct', (_, score) => score === 1],
  wrong: ['Wrong', (_, score) => score !== null && score < 1],
  flaky: ['Correct in some repeats only', (_, score) => score !== null && score > 0 && score < 1],
  abstained: ['Abstained', (runs) => runs.some(({ abstained }) => abstained)],
  unsupported: [
    'Has an unsupported citation',
    (runs) => runs.some(({ citations }) => citations.some(({ verdict }) => !isSupportedVerdict(verdict))),
  ],
  error: ['Failed with an error', (runs) => runs.some(({ error }) => error !== null)],
} satisfies Record<string, [label: string, test: OutcomeTest]>;

export type CaseOutcome = keyof typeof CASE_OUTCOMES;

/** Criteria that every case meets. */
export const EMPTY_CRITERIA: CaseCriteria = {
  text: '',
  tag: '',
  difference: 'all',
  outcome: 'any',
  arm: null,
};

/** Returns the cases that meet all criteria, in order. */
export function filterCases(
  data: Pick<ReportData, 'arms' | 'comparisons' | 'cases'>,
  { text, tag, difference, outcome, arm }: CaseCriteria,
): ReportCase[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const [, hasOutcome]: [string, OutcomeTest] = CASE_OUTCOMES[outcome];
  const differing = difference === 'all' ? null : findDifferingCases(data, difference);
  return data.cases.filter(
    (item) =>
      (tag === '' || item.tags.includes(tag)) &&
      (differing === null || differing.has(item.id)) &&
      Object.entries(item.results).some(
        ([name, { runs, metrics }]) =>
          (arm === null || arm === name) && hasOutcome(runs, metrics[HEADLINE_METRIC] ?? null),
      ) &&
      (words.length === 0 || containsAll(item, words)),
  );
}

function findDifferingCases(
  { comparisons, arms }: Pick<ReportData, 'comparisons' | 'arms'>,
  difference: string,
): Set<string> {
  const ids = comparisons.flatMap((comparison) => {
    const compared = findHeadline(comparison.metrics);
    if (compared === undefined) return [];
    if (difference === 'differ') return [...compared.better, ...compared.worse];
    if (comparison.baseline !== arms[0]?.name) return [];
    if (difference === `better:${comparison.arm}`) return compared.better;
    return difference === `worse:${comparison.arm}` ? compared.worse : [];
  });
  return new Set(ids);
}

function containsAll({ id, question, tags, results }: ReportCase, words: readonly string[]): boolean {
  const answers = Object.values(results).flatMap(({ runs }) => runs.map(({ answer }) => answer));
  const text = [id, question, ...tags, ...answers].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
