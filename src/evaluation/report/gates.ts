import { advice, settingValue } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { readJsonFile } from '../../files/read-input-file.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { allMetrics } from '../metrics/all-metrics.ts';
import { pairRuns, selectPrimaryMetrics } from '../metrics/metric.ts';
import { testLosses } from '../statistics/compare-columns.ts';
import { formatFailedGates, formatMetricValue, formatPValue } from './format-metric.ts';
import { type GateResult, parseReport, type ReportData } from './report-data.ts';

const OPERATORS = {
  '>=': (value: number, bound: number) => value >= bound,
  '<=': (value: number, bound: number) => value <= bound,
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

/** How far a share may fall below the baseline. */
const DEFAULT_MARGIN = 0.05;
/** The error of a gate: unchanged settings fail one time in twenty at most. */
const ALPHA = 0.05;
const BOUND = /^(?:(.+):\s*)?([a-z]+\.[\w@]+)\s*(>=|<=)\s*(-?\d+(?:\.\d+)?)$/;
const BASELINE = /^no-worse-than\s+(.+?)(?:\s+within\s+(\d*\.?\d+))?$/;

/** Parses `citation.precision>=0.9`, `always: abstention.recall>=0.7` or `no-worse-than baseline.json [within 0.05]`. */
export function parseGate(text: string): QualityGate {
  const trimmed = text.trim();
  const [, file, within] = BASELINE.exec(trimmed) ?? [];
  if (file !== undefined) {
    return { kind: 'baseline', text: trimmed, file, within: Number(within ?? DEFAULT_MARGIN) };
  }
  const [, arm, metric, operator, bound] = BOUND.exec(trimmed) ?? [];
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
    bound: Number(bound),
  };
}

/** The report of every file that a gate names. Throws `invalid_input`, also for one that was measured on other cases. */
export function readBaselines(
  gates: readonly QualityGate[],
  { casesHash, casesFile }: Pick<ReportData['header'], 'casesHash' | 'casesFile'>,
): Map<string, ReportData> {
  const baselines = new Map<string, ReportData>();
  for (const gate of gates) {
    if (gate.kind !== 'baseline') continue;
    const baseline = parseReport(readJsonFile(gate.file, 'Baseline'), gate.file);
    if (baseline.header.casesHash !== casesHash) {
      throw new AppError('invalid_input', `${gate.file} was measured on other cases.`, {
        hint: `Measure it again: citeloop eval ${casesFile} --json ${gate.file}`,
      });
    }
    baselines.set(gate.file, baseline);
  }
  return baselines;
}

/** `baselines` has the report of every file that a gate names. */
export function checkGate(
  gate: QualityGate,
  report: ReportData,
  baselines: ReadonlyMap<string, ReportData>,
): GateResult {
  return gate.kind === 'bound'
    ? checkBound(gate, report)
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

/**
 * A non-inferiority test of correct answers and declined questions. It fails if the first arm is proven worse than that
 * of the baseline and a loss above the margin is not excluded.
 */
function checkBaseline(
  { text, file, within }: BaselineGate,
  report: ReportData,
  baseline: ReportData,
): GateResult {
  const arm = report.arms[0]?.name ?? '';
  const firstRuns = ({ arms, cases }: ReportData) =>
    cases.map((item) => ({ id: item.id, gold: item, runs: item.results[arms[0]?.name ?? '']?.runs ?? [] }));
  const metrics = selectPrimaryMetrics(allMetrics, false).filter(({ unit }) => unit === 'share');
  const { pairs, options } = pairRuns(metrics, firstRuns(report), firstRuns(baseline), report);
  const tested = testLosses(pairs, options, ALPHA);
  const results = tested.map(({ metric, difference, p, largest }) => {
    const isLoss = p < ALPHA / tested.length;
    const change =
      difference === 0
        ? 'unchanged'
        : `${Math.abs(difference).toFixed(3)} ${difference > 0 ? 'higher' : 'lower'}`;
    const finding =
      largest <= within
        ? `no loss above ${within}`
        : isLoss
          ? `a loss is proven (${formatPValue(p)})`
          : `no loss is proven; losses up to ${largest.toFixed(2)} are not excluded`;
    return { passed: largest <= within || !isLoss, line: `${metric} ${change}, ${finding}` };
  });
  const lines = results.length === 0 ? ['too few cases to prove a loss'] : results.map(({ line }) => line);
  return {
    gate: text,
    arm,
    passed: results.length > 0 && results.every(({ passed }) => passed),
    line: `no worse than ${file}: ${lines.join('; ')}`,
  };
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
