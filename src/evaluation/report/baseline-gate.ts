import { AppError } from '../../domain/app-error.ts';
import { allMetrics } from '../metrics/all-metrics.ts';
import type { Metric } from '../metrics/metric.ts';
import { tabulate } from '../metrics/tabulate.ts';
import { createSampler } from '../statistics/bootstrap.ts';
import { type ColumnPair, compareColumns } from '../statistics/compare-columns.ts';
import { formatP, formatValue } from './format-value.ts';
import type { Gate } from './gates.ts';
import { type GateResult, REPORT_FORMAT, type ReportData, reportDataSchema } from './report-data.ts';

/** What a program must not get worse at. Times and tokens depend on the machine and the model's mood. */
const GUARDED = new Set<Metric['group']>(['answer', 'retrieval', 'citation', 'abstention', 'decision']);

/** An earlier report, as `--json` wrote it. Throws `invalid_input`. */
export function readBaseline(value: unknown, file: string): ReportData {
  const result = reportDataSchema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new AppError(
    'invalid_input',
    `${file} is no report of this program at ${issue?.path.map(String).join('.') || 'its top'}.`,
    {
      hint: `Make one with: citeloop eval <cases> --json ${file} (format ${REPORT_FORMAT})`,
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
    hint: `Measure it again: citeloop eval ${casesFile} --json ${file}`,
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
  const compared = compareColumns(
    pairs,
    report.cases.map(({ id }) => id),
    createSampler(report.header.seed),
  );
  return compared.map((comparison): GateResult => {
    const metric = pairs.find((pair) => pair.metric.id === comparison.metric)?.metric as Metric;
    const loss = metric.better === 'higher' ? -comparison.difference : comparison.difference;
    const value = report.arms[0]?.metrics[metric.id];
    const now = value?.status === 'value' ? formatValue(value.value, metric.unit) : 'no data';
    const change = `${comparison.difference >= 0 ? '+' : '-'}${formatValue(Math.abs(comparison.difference), metric.unit)}`;
    const isProven = comparison.significant && loss > 0;
    return {
      gate: gate.text,
      arm,
      passed: !isProven && loss <= gate.within,
      line: `${metric.id} no worse than ${gate.file}: ${now}, ${change} (${formatP(comparison.adjustedP)})`,
    };
  });
}

function measuredIn(report: ReportData, arm: string) {
  return report.cases.map((item) => ({ id: item.id, gold: item, runs: item.results[arm]?.runs ?? [] }));
}
