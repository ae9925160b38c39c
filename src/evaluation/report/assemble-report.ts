import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { formatCount, quoteName } from '../../text/format-count.ts';
import { type EvaluationCase, formatCheckName, toConversationKey } from '../cases/evaluation-case.ts';
import { canBeCorrect, countCorrect, isCorrect } from '../metrics/answer-metrics.ts';
import {
  type CaseRuns,
  type Metric,
  noDataReason,
  selectPrimaryMetrics,
  tabulateMetric,
} from '../metrics/metric.ts';
import { compareColumns } from '../statistics/compare-columns.ts';
import {
  caseValueAt,
  columnRatio,
  createSamplingUnits,
  filterColumn,
  type MetricColumn,
  type SamplingUnits,
  sumByUnit,
} from '../statistics/metric-column.ts';
import { createPermutationTest } from '../statistics/permutation-test.ts';
import { wilsonInterval } from '../statistics/significance.ts';
import type { CaseRun } from './case-run.ts';
import { formatArmVerdict, formatPairVerdict, formatRecommendation } from './format-verdict.ts';
import { recommendArm } from './recommend-arm.ts';
import {
  type ArmComparison,
  type MetricValue,
  metricInfoSchema,
  REPORT_FORMAT,
  type ReportArm,
  type ReportCase,
  type ReportData,
} from './report-data.ts';

/** With fewer cases only large differences can be proven. */
const FEW_CASES = 30;
/** Cases named in a note. */
const MAX_LISTED = 5;

/** The runs of an arm, by case id. */
export interface ArmResults extends Pick<ReportArm, 'name' | 'settings' | 'changed'> {
  otherSettings?: ReportArm['otherSettings'];
  runs: ReadonlyMap<string, readonly CaseRun[]>;
}

interface ReportInput {
  header: Omit<ReportData['header'], 'conversations'>;
  cases: readonly EvaluationCase[];
  /** The first two are the question. */
  arms: readonly ArmResults[];
  metrics: readonly Metric[];
  /** Whether the collection has any expected source; undefined if its documents are not known. */
  hasSources?: boolean | undefined;
}

/** An arm with its runs and a column per metric, in the order of cases and metrics. */
interface MeasuredArm {
  arm: ArmResults;
  cases: readonly CaseRuns[];
  columns: readonly MetricColumn[];
}

type PlainCase = Omit<ReportCase, 'results' | 'gold'>;

interface ReportContext {
  plainCases: readonly PlainCase[];
  metrics: readonly Metric[];
  /** Those in which arms are compared. */
  primary: readonly Metric[];
  header: ReportData['header'];
  units: SamplingUnits;
}

/** Measures, compares and describes the runs of all arms. Every arm must have runs of every case. */
export function assembleReport(input: ReportInput): ReportData {
  const { cases, metrics } = input;
  const plainCases = cases.map(toPlainCase);
  const units = createSamplingUnits(plainCases.map(({ conversation }) => conversation));
  const header = { ...input.header, conversations: units.clusters };
  const measured = input.arms.map((arm): MeasuredArm => {
    const runs = plainCases.map((gold) => ({ id: gold.id, gold, runs: arm.runs.get(gold.id) ?? [] }));
    return { arm, cases: runs, columns: metrics.map((metric) => tabulateMetric(metric, runs)) };
  });
  const money = metrics.findIndex(({ id }) => id === 'cost.money');
  const hasMoney = measured.every(({ columns }) => columns[money]?.of.some((of) => of > 0));
  const primary = selectPrimaryMetrics(metrics, hasMoney);
  const context = { plainCases, metrics, primary, header, units };
  const arms = measured.map((one) => summarizeArm(one, context));
  const comparisons = comparePairs(measured, context).map((one) => ({
    ...one,
    verdict: formatPairVerdict(one),
  }));
  const decision = recommendArm(
    arms.map(({ name }) => name),
    comparisons,
  );
  const [question] = comparisons;
  return {
    format: REPORT_FORMAT,
    kind: arms.length > 1 ? 'comparison' : 'evaluation',
    header,
    decision,
    verdict:
      question === undefined
        ? formatArmVerdict(arms[0] as ReportArm)
        : [
            ...(decision === null ? [] : [formatRecommendation(decision, { arms, comparisons, header })]),
            question.verdict,
          ],
    notes: [
      ...listOfflineWarning(arms),
      ...listMissingSources(input),
      ...listUngraded(measured),
      ...listWarnings(header, arms),
    ],
    metrics: metrics.map((metric) =>
      metricInfoSchema.parse({ ...metric, primary: primary.includes(metric) }),
    ),
    arms,
    comparisons,
    gates: [],
    cases: plainCases.map((item, index) => ({
      ...item,
      results: Object.fromEntries(
        measured.map(({ arm, cases: ofArm, columns }) => {
          const values = metrics.map(({ id }, at) => [id, caseValueAt(columns[at] as MetricColumn, index)]);
          return [arm.name, { runs: [...(ofArm[index]?.runs ?? [])], metrics: Object.fromEntries(values) }];
        }),
      ),
    })),
  };
}

/** A case as reports store it, before its results. */
export function toPlainCase(item: EvaluationCase): PlainCase {
  return {
    id: item.id,
    question: item.question,
    conversation: toConversationKey(item),
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

function summarizeArm(
  { arm, cases, columns }: MeasuredArm,
  { plainCases, metrics, primary, header, units }: ReportContext,
): ReportArm {
  const values = metrics.map((metric, index): MetricValue => {
    const column = columns[index] as MetricColumn;
    const value = columnRatio(column);
    if (!Number.isFinite(value)) return { status: 'no data', reason: noDataReason(metric, cases) };
    const n = column.of.filter((of) => of > 0).length;
    const isPrimary = primary.includes(metric);
    return {
      status: 'value',
      value,
      interval: isPrimary ? metricInterval(metric, column, header.seed, units) : null,
      n,
    };
  });
  return {
    name: arm.name,
    settings: arm.settings,
    otherSettings: arm.otherSettings ?? {},
    changed: arm.changed,
    metrics: Object.fromEntries(metrics.map(({ id }, index) => [id, values[index] as MetricValue])),
    tags: summarizeTags(plainCases, metrics, columns),
    flaky: cases.flatMap(({ id, gold, runs }) => {
      const right = canBeCorrect(gold) ? countCorrect(runs, gold) : 0;
      return right > 0 && right < runs.length ? [{ id, right, runs: runs.length }] : [];
    }),
    errors: cases.flatMap(({ runs }) => runs).filter(({ error }) => error !== null).length,
  };
}

/**
 * Wilson's interval for shares of independent cases, and for any share of 0 or 1, where units show no spread; else that
 * of the permutation test of the mean. Null for few units.
 */
function metricInterval(
  { unit, kind }: Metric,
  column: MetricColumn,
  seed: number,
  units: SamplingUnits,
): [number, number] | null {
  const value = columnRatio(column);
  const n = column.of.filter((of) => of > 0).length;
  if (n < 2) return null;
  const isClustered = units.clusters < units.unitOf.length;
  if (unit === 'share' && (value === 0 || value === 1))
    return wilsonInterval(value, Math.min(n, units.clusters));
  if (kind === 'binary' && !isClustered) return wilsonInterval(value, n);
  const { sum, of } = sumByUnit(column, units);
  return createPermutationTest({ differences: sum, sizes: of }, seed).intervalAt(0.95);
}

function summarizeTags(
  plainCases: readonly PlainCase[],
  metrics: readonly Metric[],
  columns: readonly MetricColumn[],
): ReportArm['tags'] {
  const tags = [...new Set(plainCases.flatMap((item) => item.tags))];
  return Object.fromEntries(
    tags.map((tag) => {
      const isTagged = (index: number) => plainCases[index]?.tags.includes(tag) === true;
      const values = metrics.map(({ id }, at) => {
        const value = columnRatio(filterColumn(columns[at] as MetricColumn, isTagged));
        return [id, Number.isFinite(value) ? value : null] as const;
      });
      return [
        tag,
        {
          n: plainCases.filter(({ tags: own }) => own.includes(tag)).length,
          metrics: Object.fromEntries(values),
        },
      ];
    }),
  );
}

/** Compares every pair of arms in the primary metrics, the question first. */
function comparePairs(
  arms: readonly MeasuredArm[],
  { metrics, primary, header: { seed, margin }, plainCases, units }: ReportContext,
): Omit<ArmComparison, 'verdict'>[] {
  const pairs = arms.flatMap((baseline, index) => arms.slice(index + 1).map((arm) => ({ baseline, arm })));
  const columnOf = ({ columns }: MeasuredArm, metric: Metric) =>
    columns[metrics.indexOf(metric)] as MetricColumn;
  const compared = compareColumns(
    pairs.map(({ baseline, arm }) =>
      primary.map((metric) => ({
        metric,
        arm: columnOf(arm, metric),
        baseline: columnOf(baseline, metric),
      })),
    ),
    { caseIds: plainCases.map(({ id }) => id), units, seed, margin },
  );
  return pairs.map(({ baseline, arm }, index) => ({
    baseline: baseline.arm.name,
    arm: arm.arm.name,
    metrics: compared[index] ?? [],
  }));
}

/** Policies and prompts change how a language model decides, which the offline model does not. */
function listOfflineWarning(arms: readonly ReportArm[]): string[] {
  const isOffline = arms.every(({ settings }) => settings?.model === OFFLINE_MODEL);
  const isAboutModels = arms.some(({ changed }) =>
    ['policy', 'systemPrompt', 'temperature', 'maxSteps'].some((setting) => Object.hasOwn(changed, setting)),
  );
  return arms.length > 1 && isOffline && isAboutModels
    ? [
        'The offline model is not a language model: this comparison says nothing about one. For a comparison with one, see "Recorded comparison" in docs/benchmarks.md (npm run compare:recorded), or configure a model.',
      ]
    : [];
}

function listUngraded(arms: readonly MeasuredArm[]): string[] {
  const ungraded = arms.flatMap(({ cases }) =>
    cases.filter(({ gold, runs }) => canBeCorrect(gold) && runs.some((run) => isCorrect(run, gold) === null)),
  );
  const ids = [...new Set(ungraded.map(({ id }) => id))];
  return ids.length === 0
    ? []
    : [
        `${formatCount(ids.length, 'case')} not gradable by words and left out: ${ids.slice(0, MAX_LISTED).join(', ')}${ids.length > MAX_LISTED ? ' and others' : ''}. Let a model grade them with --grade-model.`,
      ];
}

function listMissingSources({ cases, hasSources, header }: ReportInput): string[] {
  const isExpected = cases.some(({ expectedSources = [] }) => expectedSources.length > 0);
  if (!isExpected || hasSources !== false) return [];
  return [`None of the expected sources is in the collection ${header.collection.name}. Check --collection.`];
}

function formatAgreement({ model, agreement }: NonNullable<ReportData['header']['grader']>): string {
  return agreement === null || agreement.graded === 0
    ? `${model} graded the answers. How often it agrees with a person is not known: give grades with --hand-grades.`
    : `${model} graded the answers. It agrees with ${agreement.agreed} of ${agreement.graded} grades given by hand.`;
}

function listWarnings({ cases, grader }: ReportData['header'], arms: readonly ReportArm[]): string[] {
  return [
    ...(cases < FEW_CASES && arms.length > 1
      ? [`${formatCount(cases, 'case')}: only large differences can be proven.`]
      : []),
    ...(grader === null ? [] : [formatAgreement(grader)]),
    ...(grader !== null && arms.some(({ settings }) => settings?.model === grader.model)
      ? [`${grader.model} graded its own answers and may favor them. Use another model with --grade-model.`]
      : []),
    ...arms
      .filter(({ errors }) => errors > 0)
      .map(({ name, errors }) => `${formatCount(errors, 'run')} of ${quoteName(name)} failed.`),
  ];
}
