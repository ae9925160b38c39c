import { AppError } from '../../domain/app-error.ts';
import { oneLine } from '../../domain/visible-text.ts';
import { allMetrics } from '../metrics/all-metrics.ts';
import { formatValue } from './format-value.ts';
import type { GateResult, ReportData } from './report-data.ts';

type Operator = '>=' | '>' | '<=' | '<';

/** A bound on a metric of an arm (the first unless named), or a comparison with an earlier report. */
export type Gate =
  | { kind: 'bound'; text: string; arm: string | null; metric: string; operator: Operator; bound: number }
  | { kind: 'baseline'; text: string; file: string; within: number };

/** By how much a share may fall below the baseline's: what one case in fifty makes. */
const DEFAULT_WITHIN = 0.02;
const BOUND = /^(?:(.+):\s*)?([a-z]+\.[\w@]+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*(%?)$/;
const BASELINE = /^no-worse-than\s+(.+?)(?:\s+within\s+(\d*\.?\d+))?$/;

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
      hint: 'Write for example --gate "citation.precision>=0.9" or --gate "no-worse-than baseline.json".',
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
    line: `${required}: ${formatValue(found.value, unit)} on ${found.n} cases`,
  };
}

function holds(value: number, operator: Operator, bound: number): boolean {
  if (operator === '>=') return value >= bound;
  if (operator === '>') return value > bound;
  return operator === '<=' ? value <= bound : value < bound;
}

/** Throws `gate_failed` with the lines that failed. */
export function refuseFailedGates(gates: readonly GateResult[]): void {
  const failed = gates.filter(({ passed }) => !passed);
  if (failed.length === 0) return;
  throw new AppError('gate_failed', `${failed.length} of ${gates.length} gates failed.`, {
    hint: failed.map(({ arm, line }) => `${arm}: ${line}`).join('; '),
  });
}
