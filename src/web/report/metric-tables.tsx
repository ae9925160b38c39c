import {
  formatInterval,
  formatMetricValue,
  HEADLINE_METRIC,
  toKnownValue,
} from '../../evaluation/report/format-metric.ts';
import type {
  ArmComparison,
  MetricInfo,
  MetricValue,
  ReportData,
} from '../../evaluation/report/report-data.ts';
import { DataTable, NoDataLabel, ReportSection } from './report-components.tsx';

/** The metrics in which arms are tested. */
export function PrimaryMetrics({ data }: { data: ReportData }) {
  const primary = data.metrics.filter((metric) => metric.primary);
  return (
    <ReportSection id="metrics" title={data.arms.length === 1 ? 'Metrics' : 'Metrics by arm'}>
      <MetricTable data={data} metrics={primary} />
    </ReportSection>
  );
}

/** Descriptive metrics, and correct answers by tag. */
export function OtherMetrics({ data }: { data: ReportData }) {
  return (
    <ReportSection id="other-metrics" title="Other metrics">
      <p class="hint">These describe the runs. Differences in them are not tested.</p>
      <MetricTable data={data} metrics={data.metrics.filter((metric) => !metric.primary)} />
      <TagTable data={data} />
    </ReportSection>
  );
}

function MetricTable({ data, metrics }: { data: ReportData; metrics: readonly MetricInfo[] }) {
  const { arms } = data;
  const isPrimary = metrics.every(({ primary }) => primary);
  return (
    <DataTable
      class="metrics"
      caption={isPrimary ? 'Primary metrics with 95% intervals.' : 'Descriptive metrics with 95% intervals.'}
      legend={
        arms.length > 1 &&
        isPrimary && (
          <>
            <span class="key">▲ significantly better than {arms[0]?.name}</span>{' '}
            <span class="key">▼ significantly worse</span>
          </>
        )
      }
      columns={['Metric', ...arms.map(({ name }) => name), 'Cases']}
      numbersFrom={1}
    >
      {metrics.map((metric) => (
        <MetricRow key={metric.id} metric={metric} data={data} />
      ))}
    </DataTable>
  );
}

/** One cell explains missing data if no arm has any for the same reason. */
function MetricRow({ metric, data: { arms, comparisons } }: { metric: MetricInfo; data: ReportData }) {
  const values = arms.map(({ metrics }) => metrics[metric.id]);
  const [reason, ...otherReasons] = new Set(
    values.map((value) => (value?.status === 'no data' ? value.reason : null)),
  );
  const header = (
    <th scope="row">
      {metric.label} {metric.better === 'lower' && <small>lower is better</small>}
    </th>
  );
  if (otherReasons.length === 0 && typeof reason === 'string') {
    return (
      <tr>
        {header}
        <td colSpan={arms.length + 1}>
          <span class="none">no data: {reason}</span>
        </td>
      </tr>
    );
  }
  return (
    <tr>
      {header}
      {arms.map(({ name }, index) => (
        <td key={name} class="number">
          <ChangeSymbol
            comparison={comparisons.find(({ arm, baseline }) => arm === name && baseline === arms[0]?.name)}
            metric={metric.id}
          />
          <ValueWithInterval value={values[index]} unit={metric.unit} />
        </td>
      ))}
      <td class="number muted">{formatCaseCounts(values)}</td>
    </tr>
  );
}

function ValueWithInterval({ value, unit }: { value: MetricValue | undefined; unit: MetricInfo['unit'] }) {
  const known = toKnownValue(value);
  if (known === null) return <NoDataLabel />;
  return (
    <>
      <span class="value">{formatMetricValue(known.value, unit)}</span>
      {known.interval !== null && <small class="range">{formatInterval(known.interval, unit)}</small>}
    </>
  );
}

/** A symbol for the eye and its text for screen readers. */
function ChangeSymbol({ comparison, metric }: { comparison: ArmComparison | undefined; metric: string }) {
  const conclusion = comparison?.metrics.find((compared) => compared.metric === metric)?.conclusion;
  if (conclusion !== 'better' && conclusion !== 'worse') return null;
  return (
    <>
      <span class={`symbol ${conclusion}`} aria-hidden="true">
        {conclusion === 'better' ? '▲' : '▼'}
      </span>
      <span class="unseen">significantly {conclusion}, </span>
    </>
  );
}

function formatCaseCounts(values: readonly (MetricValue | undefined)[]): string {
  const counts = values.flatMap((value) => toKnownValue(value)?.n ?? []);
  const [low, high] = [Math.min(...counts), Math.max(...counts)];
  return low === high ? String(low) : `${low}–${high}`;
}

function TagTable({ data: { arms } }: { data: ReportData }) {
  const tags = Object.entries(arms[0]?.tags ?? {});
  if (tags.length === 0) return null;
  return (
    <DataTable
      class="tags"
      caption="Answered correctly, by tag"
      columns={['Tag', ...arms.map(({ name }) => name), 'Cases']}
      numbersFrom={1}
    >
      {tags.map(([tag, { n }]) => (
        <tr key={tag}>
          <th scope="row">{tag}</th>
          {arms.map((arm) => {
            const value = arm.tags[tag]?.metrics[HEADLINE_METRIC] ?? null;
            return (
              <td key={arm.name} class="number">
                {value === null ? <NoDataLabel /> : formatMetricValue(value, 'share')}
              </td>
            );
          })}
          <td class="number muted">{n}</td>
        </tr>
      ))}
    </DataTable>
  );
}
