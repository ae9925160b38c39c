import {
  formatInterval,
  formatMetricDifference,
  formatPercent,
  formatPoints,
  formatPValue,
  hasNoDifference,
} from '../../evaluation/report/format-metric.ts';
import type {
  ArmComparison,
  MetricComparison,
  MetricInfo,
  ReportData,
} from '../../evaluation/report/report-data.ts';
import { quoteName } from '../../text/format-count.ts';
import { DataTable, ReportSection } from './report-components.tsx';

const CONCLUSION_LABELS: Record<MetricComparison['conclusion'], string> = {
  better: '▲ better',
  worse: '▼ worse',
  equivalent: '= equivalent',
  undecided: '○ undecided',
  'too few': '○ too few cases differ',
};

/** Every pair of arms in the primary metrics, the question first. Renders nothing for a single arm. */
export function DifferenceTables({ data }: { data: ReportData }) {
  if (data.comparisons.length === 0) return null;
  const { margin } = data.header;
  return (
    <ReportSection id="differences" title="Differences">
      <p class="hint">
        Paired on the same cases. <em>Better</em> and <em>worse</em>: p below 0.05. <em>Equivalent</em>: less
        than {formatPoints(margin)} or {formatPercent(margin)} apart. P values and intervals are corrected
        together: those of the first pair by themselves, those of all other pairs among themselves.
      </p>
      {data.comparisons.map((comparison, index) => {
        const title = `${quoteName(comparison.arm)} compared with ${quoteName(comparison.baseline)}`;
        return (
          <details key={title} class="pair" open={index === 0}>
            <summary>
              <h3>{title}</h3>
            </summary>
            {index > 0 && <p>{comparison.verdict}</p>}
            <DifferenceTable title={title} comparison={comparison} metrics={data.metrics} />
          </details>
        );
      })}
    </ReportSection>
  );
}

interface DifferenceTableProps {
  title: string;
  comparison: ArmComparison;
  metrics: readonly MetricInfo[];
}

function DifferenceTable({ title, comparison, metrics }: DifferenceTableProps) {
  const rows = comparison.metrics.flatMap((compared) => {
    const metric = metrics.find(({ id }) => id === compared.metric);
    return metric === undefined ? [] : [{ metric, compared }];
  });
  const identical = rows.filter(({ compared }) => hasNoDifference(compared));
  return (
    <>
      <DataTable
        class="differences"
        caption={title}
        isCaptionHidden={true}
        columns={['Metric', 'Difference', 'Conclusion', 'Interval', 'p', 'Cases']}
      >
        {rows
          .filter(({ compared }) => !hasNoDifference(compared))
          .map(({ metric: { id, label, unit }, compared }) => (
            <tr key={id} class={compared.conclusion}>
              <th scope="row">{label}</th>
              <td class="number">{formatMetricDifference(compared.difference, unit)}</td>
              <td class="conclusion">{CONCLUSION_LABELS[compared.conclusion]}</td>
              <td class="number muted">
                {compared.interval && formatInterval(compared.interval, unit, formatMetricDifference)}
              </td>
              <td class="number">
                {compared.adjustedP !== null && formatPValue(compared.adjustedP).replace(/^p (?:= )?/, '')}
              </td>
              <td>
                {compared.better.length + compared.worse.length > 0 &&
                  `${compared.better.length} better, ${compared.worse.length} worse`}
              </td>
            </tr>
          ))}
      </DataTable>
      {identical.length > 0 && (
        <p class="hint">Equal on every case: {identical.map(({ metric }) => metric.label).join(', ')}.</p>
      )}
    </>
  );
}
