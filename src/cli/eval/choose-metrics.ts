import { AppError } from '../../domain/app-error.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { allMetrics } from '../../evaluation/metrics/all-metrics.ts';
import type { Metric } from '../../evaluation/metrics/metric.ts';
import { withoutResults } from '../../evaluation/report/assemble-report.ts';
import type { Gate } from '../../evaluation/report/gates.ts';

/** The metrics that were asked for, and those of the gates. Throws `invalid_input` for one that the cases have no gold for. */
export function chooseMetrics(
  list: string | undefined,
  gates: readonly Gate[],
  cases: readonly EvaluationCase[],
): readonly Metric[] {
  const named = list
    ?.split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  const unknown = named?.find((id) => !allMetrics.some((metric) => metric.id === id));
  if (unknown !== undefined) {
    throw new AppError('invalid_input', `There is no metric "${unknown}".`, {
      hint: `Metrics are ${allMetrics.map(({ id }) => id).join(', ')}.`,
    });
  }
  const gated = gates.flatMap((gate) => (gate.kind === 'bound' ? [gate.metric] : []));
  const asked = new Set([...(named ?? []), ...gated]);
  for (const metric of allMetrics) if (asked.has(metric.id)) assertGold(metric, cases);
  return named === undefined ? allMetrics : allMetrics.filter(({ id }) => asked.has(id));
}

function assertGold(metric: Metric, cases: readonly EvaluationCase[]): void {
  if (metric.hasGold === undefined || cases.some((item) => metric.hasGold?.(withoutResults(item)))) return;
  throw new AppError('invalid_input', `${metric.id} was asked for, but ${metric.needs}.`, {
    hint: 'Add it to the cases, or do not ask for the metric; docs/metrics.md says what each needs.',
  });
}
