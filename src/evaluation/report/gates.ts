import { advice, settingValue } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { allMetrics } from '../metrics/all-metrics.ts';
import { compareRuns, type Metric } from '../metrics/metric.ts';
import { formatMetricDifference, formatMetricValue, formatPValue } from './format-metric.ts';
import { formatFailedGates } from './gate-results.ts';
import type { GateResult, ReportData } from './report-data.ts';

const OPERATORS = {
  '>=': (value: number, bound: number) => value >= bound,
  '>': (value: number, bound: number) => value > bound,
  '<=': (value: number, bound: number) => value <= bound,
  '<': (value: number, bound: number) => value < bound,
};

/** A bound on a metric of an arm, by default the first, or a comparison with an earlier report. */
export type QualityGate =
  | {
      kind: 'bound';
      text: string;
      arm: string | null;
      metric: string;
      operator: keyof typeof OPERATORS;
      bound: number;
    }
  | { kind: 'baseline'; text: string; file: string; within: number };
type BoundGate = Extract<QualityGate, { kind: 'bound' }>;
type BaselineGate = Extract<QualityGate, { kind: 'baseline' }>;

/** How much a share may fall below the baseline: one case in fifty. */
const DEFAULT_TOLERANCE = 0.02;
const BOUND = /^(?:(.+):\s*)?([a-z]+\.[\w@]+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*(%?)$/;
const BASELINE = /^no-worse-than\s+(.+?)(?:\s+within\s+(\d*\.?\d+))?$/;

/** The groups that `no-worse-than` compares. Times and tokens depend on machine and model. */
const QUALITY_GROUPS = new Set<Metric['group']>([
  'answer',
  'retrieval',
  'citation',
  'abstention',
  'decision',
]);

/** Parses `citation.precision>=0.9`, `always: abstention.f1>=0.7` or `no-worse-than baseline.json [within 0.05]`. */
export function parseGate(text: string): QualityGate {
  const trimmed = text.trim();
  const [, file, within] = BASELINE.exec(trimmed) ?? [];
  if (file !== undefined) {
    return { kind: 'baseline', text: trimmed, file, within: Number(within ?? DEFAULT_TOLERANCE) };
  }
  const [, arm, metric, operator, bound, percent] = BOUND.exec(trimmed) ?? [];
  if (metric === undefined) {
    throw new AppError('invalid_input', `Invalid gate "${oneLine(text, 60)}".`, {
      hint: advice`Examples: ${settingValue('gate', '"citation.precision>=0.9"', '"citation.precision>=0.9"')}, ${settingValue('gate', '"no-worse-than baseline.json"', '"no-worse-than baseline.json"')}.`,
    });
  }
  if (!allMetrics.some(({ id }) => id === metric)) {
    throw new AppError('invalid_input', `Unknown metric in the gate "${oneLine(text, 60)}".`, {
      hint: `Metrics: ${allMetrics.map(({ id }) => id).join(', ')}.`,
    });
  }
  return {
    kind: 'bound',
    text: trimmed,
    arm: arm?.trim() ?? null,
    metric,
    operator: operator as BoundGate['operator'],
    bound: Number(bound) / (percent === '%' ? 100 : 1),
  };
}

/** Results of a gate; a baseline gate has one per metric. `baselines` has the report of every file that a gate names. */
export function checkGate(
  gate: QualityGate,
  report: ReportData,
  baselines: ReadonlyMap<string, ReportData>,
): GateResult[] {
  return gate.kind === 'bound'
    ? [checkBound(gate, report)]
    : checkBaseline(gate, report, baselines.get(gate.file) as ReportData);
}

/** A metric without data fails. */
function checkBound(
  { text, arm: armName, metric, operator, bound }: BoundGate,
  { arms, metrics }: ReportData,
): GateResult {
  const arm = armName === null ? arms[0] : arms.find(({ name }) => name === armName);
  if (arm === undefined) {
    throw new AppError('invalid_input', `Unknown arm in the gate "${oneLine(text, 60)}".`, {
      hint: `Arms: ${arms.map(({ name }) => name).join(', ')}.`,
    });
  }
  const found = arm.metrics[metric];
  const unit = metrics.find(({ id }) => id === metric)?.unit ?? 'number';
  const measured =
    found?.status === 'value'
      ? `${formatMetricValue(found.value, unit)} on ${formatCount(found.n, 'case')}`
      : `no data, ${found?.reason ?? 'it was not measured'}`;
  return {
    gate: text,
    arm: arm.name,
    passed: found?.status === 'value' && OPERATORS[operator](found.value, bound),
    line: `${metric} ${operator} ${bound}: ${measured}`,
  };
}

/** A metric fails if the first arm is proven worse than that of the baseline, or worse by more than the gate allows. */
function checkBaseline(
  { text, file, within }: BaselineGate,
  report: ReportData,
  baseline: ReportData,
): GateResult[] {
  const [arm] = report.arms;
  const firstRuns = ({ arms, cases }: ReportData) =>
    cases.map((item) => ({ id: item.id, gold: item, runs: item.results[arms[0]?.name ?? '']?.runs ?? [] }));
  const metrics = allMetrics.filter(({ group }) => QUALITY_GROUPS.has(group));
  const compared = compareRuns(metrics, firstRuns(report), firstRuns(baseline), report);
  return compared.map(({ metric: id, difference, adjustedP }): GateResult => {
    const metric = metrics.find((one) => one.id === id) as Metric;
    const loss = metric.better === 'higher' ? -difference : difference;
    const value = arm?.metrics[id];
    const now = value?.status === 'value' ? formatMetricValue(value.value, metric.unit) : 'no data';
    const isProvenWorse = (adjustedP ?? 1) < 0.05 && loss > 0;
    return {
      gate: text,
      arm: arm?.name ?? '',
      passed: !isProvenWorse && loss <= within,
      line: `${id} no worse than ${file}: ${now}, ${formatMetricDifference(difference, metric.unit)} (${formatPValue(adjustedP)})`,
    };
  });
}

/** Throws `gate_failed` with the lines that failed. */
export function assertGatesPassed(gates: readonly GateResult[]): void {
  const failure = formatFailedGates(gates);
  if (failure === null) return;
  const failed = gates.filter(({ passed }) => !passed);
  throw new AppError('gate_failed', `${failure}.`, {
    hint: failed.map(({ arm, line }) => `${arm}: ${line}`).join('; '),
  });
}
