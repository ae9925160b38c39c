import { AppError } from '../../faults/app-error.ts';
import { counted, quoted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { conversationKey, type EvaluationCase, formatCheckName } from '../cases/evaluation-case.ts';
import { type GoldPins, goldKey } from '../cases/gold-pins.ts';
import { canBeCorrect } from '../metrics/answer-metrics.ts';
import type { Metric } from '../metrics/metric.ts';
import { type CaseRuns, reasonOf, tabulate } from '../metrics/metric.ts';
import { countRight } from '../metrics/repeat-metrics.ts';
import { createSampler, percentileInterval, type Sampler } from '../statistics/bootstrap.ts';
import { type Column, masked, ratioOf, valueAt } from '../statistics/column.ts';
import { compareColumns } from '../statistics/compare-columns.ts';
import { wilsonInterval } from '../statistics/significance.ts';
import { type Units, unitsOf } from '../statistics/units.ts';
import type { CaseRun } from './case-run.ts';
import type { Comparison } from './comparison.ts';
import { decide, standingOf } from './decide.ts';
import type { MetricInfo, MetricValue } from './metric-value.ts';
import type { CaseResult, ReportCase } from './report-case.ts';
import { type Arm, REPORT_FORMAT, type ReportData } from './report-data.ts';
import { searchWorth } from './search-worth.ts';
import { type Findings, sentenceOnDecision, verdictOnArm, verdictOnPair } from './verdict.ts';
import { verdictOnSearches } from './verdict-on-searches.ts';

/** Fewer cases than this rarely prove anything. */
const FEW_CASES = 30;

/** What one arm brought: the runs of every case, by its id. */
export interface ArmResults extends Pick<Arm, 'name' | 'settings' | 'changed'> {
  otherSettings?: Arm['otherSettings'];
  runs: ReadonlyMap<string, readonly CaseRun[]>;
}

interface ReportInput {
  header: Omit<ReportData['header'], 'conversations'>;
  cases: readonly EvaluationCase[];
  /** The first is what the others are compared with. */
  arms: readonly ArmResults[];
  metrics: readonly Metric[];
  /** What the gold of each case rests on, by its id; nothing where that is not known. */
  pins?: GoldPins | undefined;
}

/** Runs in, the finished report out. Throws `invalid_input` if an arm lacks a case or has one too many. */
export function assembleReport({ header: made, cases, arms, metrics, pins }: ReportInput): ReportData {
  const plain = cases.map(withoutResults);
  const units = unitsOf(plain.map(({ conversation }) => conversation));
  const sample = createSampler(made.seed, units);
  const header = { ...made, conversations: units.clusters };
  const tables = arms.map((arm) => {
    assertSameCases(arm, cases);
    const measured = plain.map(
      (item): CaseRuns => ({ id: item.id, gold: item, runs: arm.runs.get(item.id) ?? [] }),
    );
    return { arm, measured, columns: metrics.map((metric) => tabulate(metric, measured)) };
  });
  const reported = tables.map(
    ({ arm, measured, columns }): Arm => ({
      name: arm.name,
      settings: arm.settings,
      otherSettings: arm.otherSettings ?? {},
      changed: arm.changed,
      metrics: metricValues(metrics, columns, measured, sample, units),
      tags: tagValues(plain, metrics, columns),
      flaky: measured.flatMap(({ id, gold, runs: asked }) => {
        const right = canBeCorrect(gold) ? countRight(asked, gold) : 0;
        return right > 0 && right < asked.length ? [{ id, right, runs: asked.length }] : [];
      }),
      errors: measured.flatMap(({ runs }) => runs).filter(({ error }) => error !== null).length,
    }),
  );
  const infos = metrics.map(infoOf);
  const compared = compareColumns(
    tables.slice(1).map(({ columns }) =>
      metrics.map((metric, column) => ({
        metric,
        arm: columns[column] as Column,
        baseline: tables[0]?.columns[column] as Column,
      })),
    ),
    { caseIds: plain.map(({ id }) => id), units, sample, seed: header.seed, margin: header.margin },
  );
  const standing = compared.map((ofArm, index) => ({
    baseline: (reported[0] as Arm).name,
    arm: (reported[index + 1] as Arm).name,
    metrics: ofArm,
    standing: standingOf(ofArm),
  }));
  const findings: Findings = {
    arms: reported,
    metrics: infos,
    header,
    comparisons: standing,
    decision: decide(reported[0] as Arm, standing),
  };
  const comparisons = standing.map((one): Comparison => ({ ...one, verdict: verdictOnPair(one, findings) }));
  const results = tables.map(({ measured, columns }) =>
    measured.map(
      ({ runs }, index): Result => ({
        runs: [...runs],
        metrics: Object.fromEntries(
          metrics.map(({ id }, column) => [id, valueAt(columns[column] as Column, index)]),
        ),
      }),
    ),
  );
  const { worth, kinds } = searchWorth({
    arms: reported,
    metrics: infos,
    turns: results.map((ofArm) =>
      ofArm.map((result, index) => ({ result, needsRetrieval: plain[index]?.needsRetrieval ?? null })),
    ),
    caseIds: plain.map(({ id }) => id),
    units,
    seed: header.seed,
    margin: header.margin,
  });
  return {
    format: REPORT_FORMAT,
    kind: arms.length > 1 ? 'comparison' : 'evaluation',
    header,
    decision: findings.decision,
    verdict: verdictOn(findings, comparisons),
    notes: notesOn(header, reported),
    metrics: infos,
    arms: reported,
    comparisons,
    searchWorth: worth.map((one) => ({ ...one, verdict: verdictOnSearches(one, header) })),
    gates: [],
    cases: plain.map((item, index) => ({
      ...item,
      gold: goldOf(cases[index] as EvaluationCase, pins),
      results: Object.fromEntries(
        tables.map(({ arm }, place) => [
          arm.name,
          { ...(results[place]?.[index] as Result), search: kinds[place]?.[index] ?? null },
        ]),
      ),
    })),
  };
}

type Result = Omit<CaseResult, 'search'>;

function goldOf(item: EvaluationCase, pins: ReportInput['pins']): ReportCase['gold'] {
  const own = pins?.get(item.id) ?? [];
  return own.length === 0 ? null : { key: goldKey(item), pins: [...own] };
}

function verdictOn(findings: Findings, comparisons: readonly Comparison[]): string[] {
  if (comparisons.length === 0) return verdictOnArm(findings.arms[0] as Arm);
  const advice = sentenceOnDecision(findings);
  return [...(advice === null ? [] : [advice]), ...comparisons.flatMap(({ verdict }) => verdict.slice(0, 1))];
}

function notesOn({ cases, judge }: ReportData['header'], arms: readonly Arm[]): string[] {
  const failed = arms.filter(({ errors }) => errors > 0);
  return [
    ...(cases < FEW_CASES
      ? [`${counted(cases, 'case is', 'cases are')} few: only large differences can be seen.`]
      : []),
    ...(judge !== null && arms.some(({ settings }) => settings.model === judge)
      ? [
          `${judge} judged its own answers, and models are kind to themselves: name another with --judge-model.`,
        ]
      : []),
    ...failed.map(({ name, errors }) => `${counted(errors, 'run')} of ${quoted(name)} ended in an error.`),
  ];
}

function assertSameCases({ name, runs }: ArmResults, cases: readonly EvaluationCase[]): void {
  const missing = cases.find(({ id }) => (runs.get(id)?.length ?? 0) === 0);
  const ids = new Set(cases.map(({ id }) => id));
  const strange = [...runs.keys()].find((id) => !ids.has(id));
  if (missing === undefined && strange === undefined) return;
  throw new AppError(
    'invalid_input',
    missing === undefined
      ? `The arm "${name}" has a case that the others do not: "${oneLine(strange ?? '', 60)}".`
      : `The arm "${name}" has no result for case "${oneLine(missing.id, 60)}".`,
    { hint: 'Arms can be compared only on the same cases; run all of them on the same file.' },
  );
}

/** A case as the report holds it, before its results. */
export function withoutResults(item: EvaluationCase): Omit<ReportCase, 'results' | 'gold'> {
  return {
    id: item.id,
    question: item.question,
    conversation: conversationKey(item),
    history: item.history ?? [],
    tags: item.tags ?? [],
    answerable: item.answerable ?? null,
    needsRetrieval: item.needsRetrieval ?? null,
    expected: {
      sources: item.expectedSources ?? [],
      chunks: item.expectedChunks ?? [],
      phrases: item.expectedPhrases ?? [],
      forbidden: item.forbiddenPhrases ?? [],
      answers: [item.expectedAnswer ?? []].flat(),
      checks: (item.checks ?? []).map(formatCheckName),
    },
  };
}

/** The values of one arm with their intervals, by the id of the metric. */
function metricValues(
  metrics: readonly Metric[],
  columns: readonly Column[],
  cases: readonly CaseRuns[],
  sample: Sampler,
  units: Units,
): Record<string, MetricValue> {
  const samples = sample(columns);
  return Object.fromEntries(
    metrics.map((metric, index) => {
      const column = columns[index] as Column;
      return [metric.id, measuredValue(metric, column, samples[index] as Float64Array, cases, units)];
    }),
  );
}

function measuredValue(
  metric: Metric,
  column: Column,
  samples: Float64Array,
  cases: readonly CaseRuns[],
  units: Units,
): MetricValue {
  const value = ratioOf(column);
  if (!Number.isFinite(value)) return { status: 'no data', reason: reasonOf(metric, cases) };
  const n = column.of.reduce((count, of) => count + (of > 0 ? 1 : 0), 0);
  return {
    status: 'value',
    value,
    interval: n < 2 ? null : intervalOf(metric, value, { n, samples, units }),
    n,
  };
}

/**
 * Where all cases agree on 0 or 1 no sample differs; the interval of a share of as many conversations is honest. A
 * share of independent cases has Wilson's, too.
 */
function intervalOf(
  metric: Metric,
  value: number,
  { n, samples, units }: { n: number; samples: Float64Array; units: Units },
): [number, number] | null {
  const agree = metric.unit === 'share' && (value === 0 || value === 1);
  const isClustered = units.clusters < units.unitOf.length;
  if (agree) return wilsonInterval(value, Math.min(n, units.clusters));
  return metric.kind === 'binary' && !isClustered ? wilsonInterval(value, n) : percentileInterval(samples);
}

function tagValues(
  cases: readonly Pick<ReportCase, 'tags'>[],
  metrics: readonly Metric[],
  columns: readonly Column[],
): Arm['tags'] {
  const tags = [...new Set(cases.flatMap((item) => item.tags))];
  return Object.fromEntries(
    tags.map((tag) => {
      const isTagged = (index: number) => cases[index]?.tags.includes(tag) === true;
      const values = metrics.map(({ id }, column) => {
        const value = ratioOf(masked(columns[column] as Column, isTagged));
        return [id, Number.isFinite(value) ? value : null] as const;
      });
      return [
        tag,
        { n: cases.filter((item) => item.tags.includes(tag)).length, metrics: Object.fromEntries(values) },
      ];
    }),
  );
}

function infoOf({ id, label, group, unit, better, kind, description }: Metric): MetricInfo {
  return { id, label, group, unit, better, kind, description };
}
