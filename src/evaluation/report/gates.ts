import { advice, command, settingOf } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { allMetrics } from '../metrics/all-metrics.ts';
import type { Metric } from '../metrics/metric.ts';
import { tabulate } from '../metrics/metric.ts';
import { createSampler } from '../statistics/bootstrap.ts';
import { type ColumnPair, compareColumns } from '../statistics/compare-columns.ts';
import { unitsOf } from '../statistics/units.ts';
import { formatP, formatValue } from './format-value.ts';
import { gatesFailed } from './gate-lines.ts';
import {
  type GateResult,
  migrateReport,
  REPORT_FORMAT,
  type ReportData,
  reportDataSchema,
} from './report-data.ts';

type Operator = '>=' | '>' | '<=' | '<';

/** A bound on a metric of an arm (the first unless named), or a comparison with an earlier report. */
export type Gate =
  | { kind: 'bound'; text: string; arm: string | null; metric: string; operator: Operator; bound: number }
  | { kind: 'baseline'; text: string; file: string; within: number };

/** By how much a share may fall below the baseline's: what one case in fifty makes. */
const DEFAULT_WITHIN = 0.02;
const BOUND = /^(?:(.+):\s*)?([a-z]+\.[\w@]+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*(%?)$/;
const BASELINE = /^no-worse-than\s+(.+?)(?:\s+within\s+(\d*\.?\d+))?$/;

/** What a program must not get worse at. Times and tokens depend on the machine and the model's mood. */
const GUARDED = new Set<Metric['group']>(['answer', 'retrieval', 'citation', 'abstention', 'decision']);

/** Reads `citation.precision>=0.9`, `always: abstention.f1>=0.7` or `no-worse-than baseline.json [within 0.05]`. */
export function parseGate(text: string): Gate {
  const trimmed = text.trim();
  const [, file, within] = BASELINE.exec(trimmed) ?? [];
  if (file !== undefined) {
    return {
      kind: 'baseline',
      text: trimmed,
      file,
      within: within === undefined ? DEFAULT_WITHIN : Number(within),
    };
  }
  const [, arm, metric, operator, bound, percent] = BOUND.exec(trimmed) ?? [];
  if (metric === undefined || operator === undefined) {
    throw new AppError('invalid_input', `The gate "${oneLine(text, 60)}" cannot be read.`, {
      hint: advice`Write for example ${settingOf('gate', '"citation.precision>=0.9"', '"citation.precision>=0.9"')} or ${settingOf('gate', '"no-worse-than baseline.json"', '"no-worse-than baseline.json"')}.`,
    });
  }
  if (!allMetrics.some(({ id }) => id === metric)) {
    throw new AppError('invalid_input', `The gate "${oneLine(text, 60)}" names no metric.`, {
      hint: `Metrics are ${allMetrics.map(({ id }) => id).join(', ')}.`,
    });
  }
  const value = Number(bound) / (percent === '%' ? 100 : 1);
  return {
    kind: 'bound',
    text: trimmed,
    arm: arm?.trim() ?? null,
    metric,
    operator: operator as Operator,
    bound: value,
  };
}

/** Whether a bound holds. A metric without data fails: what was not measured was not shown to be good enough. */
export function checkBound(
  gate: Extract<Gate, { kind: 'bound' }>,
  { arms, metrics }: ReportData,
): GateResult {
  const arm = gate.arm === null ? arms[0] : arms.find(({ name }) => name === gate.arm);
  if (arm === undefined) {
    throw new AppError(
      'invalid_input',
      `The gate "${oneLine(gate.text, 60)}" names an arm that there is not.`,
      {
        hint: `Arms are ${arms.map(({ name }) => name).join(', ')}.`,
      },
    );
  }
  const found = arm.metrics[gate.metric];
  const unit = metrics.find(({ id }) => id === gate.metric)?.unit ?? 'number';
  const required = `${gate.metric} ${gate.operator} ${gate.bound}`;
  if (found?.status !== 'value') {
    const reason = found === undefined ? 'it was not measured' : found.reason;
    return { gate: gate.text, arm: arm.name, passed: false, line: `${required}: no data, ${reason}` };
  }
  return {
    gate: gate.text,
    arm: arm.name,
    passed: holds(found.value, gate.operator, gate.bound),
    line: `${required}: ${formatValue(found.value, unit)} on ${counted(found.n, 'case')}`,
  };
}

/** An earlier report, as `--json` wrote it. Throws `invalid_input`. */
export function readBaseline(value: unknown, file: string): ReportData {
  const result = reportDataSchema.safeParse(migrateReport(value));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new AppError(
    'invalid_input',
    `${file} is no report of this program at ${issue?.path.map(String).join('.') || 'its top'}.`,
    {
      hint: advice`Make one of format ${String(REPORT_FORMAT)}${command('eval <cases>', { json: file })}`,
    },
  );
}

/** Throws `invalid_input` for a report on other cases: nothing in it can be paired. */
export function assertSameCases(
  file: string,
  baseline: ReportData,
  { casesHash, casesFile }: Pick<ReportData['header'], 'casesHash' | 'casesFile'>,
): void {
  if (baseline.header.casesHash === casesHash) return;
  throw new AppError('invalid_input', `${file} was measured on other cases than these.`, {
    hint: advice`Measure it again${command(`eval ${casesFile}`, { json: file })}`,
  });
}

/**
 * One result a metric: it fails if the first arm is proven worse than the baseline's first arm on the same cases,
 * or lower by more than the gate allows. Throws `invalid_input` if the cases are not the same.
 */
export function checkBaseline(
  gate: Extract<Gate, { kind: 'baseline' }>,
  report: ReportData,
  baseline: ReportData,
): GateResult[] {
  assertSameCases(gate.file, baseline, report.header);
  const arm = report.arms[0]?.name ?? '';
  const former = baseline.arms[0]?.name ?? '';
  const pairs = allMetrics
    .filter(({ group }) => GUARDED.has(group))
    .map((metric): ColumnPair & { metric: Metric } => ({
      metric,
      arm: tabulate(metric, measuredIn(report, arm)),
      baseline: tabulate(metric, measuredIn(baseline, former)),
    }));
  const { seed, margin } = report.header;
  const units = unitsOf(report.cases.map(({ conversation }) => conversation));
  const [compared = []] = compareColumns([pairs], {
    caseIds: report.cases.map(({ id }) => id),
    units,
    sample: createSampler(seed, units),
    seed,
    margin,
  });
  return compared.map((comparison): GateResult => {
    const metric = pairs.find((pair) => pair.metric.id === comparison.metric)?.metric as Metric;
    const loss = metric.better === 'higher' ? -comparison.difference : comparison.difference;
    const value = report.arms[0]?.metrics[metric.id];
    const now = value?.status === 'value' ? formatValue(value.value, metric.unit) : 'no data';
    const change = `${comparison.difference >= 0 ? '+' : '-'}${formatValue(Math.abs(comparison.difference), metric.unit)}`;
    // However small: what is proven is proven.
    const isProven = (comparison.adjustedP ?? 1) < 0.05 && loss > 0;
    return {
      gate: gate.text,
      arm,
      passed: !isProven && loss <= gate.within,
      line: `${metric.id} no worse than ${gate.file}: ${now}, ${change} (${formatP(comparison.adjustedP)})`,
    };
  });
}

/** Throws `gate_failed` with the lines that failed. */
export function refuseFailedGates(gates: readonly GateResult[]): void {
  const failure = gatesFailed(gates);
  if (failure === null) return;
  const failed = gates.filter(({ passed }) => !passed);
  throw new AppError('gate_failed', `${failure}.`, {
    hint: failed.map(({ arm, line }) => `${arm}: ${line}`).join('; '),
  });
}

function holds(value: number, operator: Operator, bound: number): boolean {
  if (operator === '>=') return value >= bound;
  if (operator === '>') return value > bound;
  return operator === '<=' ? value <= bound : value < bound;
}

function measuredIn(report: ReportData, arm: string) {
  return report.cases.map((item) => ({ id: item.id, gold: item, runs: item.results[arm]?.runs ?? [] }));
}
