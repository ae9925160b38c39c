import {
  formatPercent,
  formatPoints,
  formatPValue,
  hasNoDifference,
} from '../../evaluation/report/format-metric.ts';
import type { ArmComparison, MetricInfo, ReportPageData } from '../../evaluation/report/report-data.ts';
import { quoteName } from '../../text/format-count.ts';
import type { CaseCriteria } from './case-filter.ts';
import { DataTable, ReportSection } from './report-components.tsx';
import { CONCLUSION_LABELS, formatInterval, formatSignedValue } from './report-metrics.ts';

/** The metric by which cases can be filtered. */
const HEADLINE = 'answer.correct';

interface DifferencesProps {
  data: ReportPageData;
  onShowCases: (criteria: Partial<CaseCriteria>) => void;
}

/** Every pair of arms in the primary metrics, the question first. Renders nothing for a single arm. */
export function DifferenceTables({ data, onShowCases }: DifferencesProps) {
  if (data.comparisons.length === 0) return null;
  const { margin } = data.header;
  return (
    <ReportSection id="differences" title="Differences">
      <p class="hint">
        Paired on the same cases. <em>Better</em> and <em>worse</em>: p below 0.05. <em>Equivalent</em>: less
        than {formatPoints(margin)} or {formatPercent(margin)} apart. P values and intervals are corrected
        together: those of the first pair by themselves, those of all other pairs among themselves.
      </p>
      {data.comparisons.map((comparison, index) => (
        <details key={comparisonTitle(comparison)} class="pair" open={index === 0}>
          <summary>
            <h3>{comparisonTitle(comparison)}</h3>
          </summary>
          {index > 0 && <p>{comparison.verdict}</p>}
          <DifferenceTable
            comparison={comparison}
            metrics={data.metrics}
            isWithFirst={comparison.baseline === data.arms[0]?.name}
            onShowCases={onShowCases}
          />
        </details>
      ))}
    </ReportSection>
  );
}

function comparisonTitle({ arm, baseline }: ArmComparison): string {
  return `${quoteName(arm)} compared with ${quoteName(baseline)}`;
}

interface DifferenceTableProps extends Pick<DifferencesProps, 'onShowCases'> {
  comparison: ArmComparison;
  metrics: readonly MetricInfo[];
  /** Cases can be filtered by their difference from the first arm. */
  isWithFirst: boolean;
}

function DifferenceTable({ comparison, metrics, isWithFirst, onShowCases }: DifferenceTableProps) {
  const rows = comparison.metrics.flatMap((compared) => {
    const metric = metrics.find(({ id }) => id === compared.metric);
    return metric === undefined ? [] : [{ metric, compared }];
  });
  const identical = rows.filter(({ compared }) => hasNoDifference(compared));
  return (
    <>
      <DataTable
        class="differences"
        caption={comparisonTitle(comparison)}
        isCaptionHidden={true}
        columns={['Metric', 'Difference', 'Conclusion', 'Interval', 'p', 'Cases']}
      >
        {rows
          .filter(({ compared }) => !hasNoDifference(compared))
          .map(({ metric, compared: { difference, interval, adjustedP, conclusion, better, worse } }) => (
            <tr key={metric.id} class={conclusion}>
              <th scope="row">{metric.label}</th>
              <td class="number">{formatSignedValue(difference, metric.unit)}</td>
              <td class="conclusion">{CONCLUSION_LABELS[conclusion]}</td>
              <td class="number muted">
                {interval === null ? 'no interval' : formatInterval(interval, metric.unit, formatSignedValue)}
              </td>
              <td class="number">
                {adjustedP === null ? '–' : formatPValue(adjustedP).replace(/^p (?:= )?/, '')}
              </td>
              <td class="jumps">
                {Object.entries({ better, worse }).map(
                  ([side, cases]) =>
                    cases.length > 0 &&
                    isWithFirst &&
                    metric.id === HEADLINE && (
                      <button
                        key={side}
                        type="button"
                        class="jump"
                        data-metric={metric.id}
                        onClick={() => onShowCases({ difference: `${side}:${comparison.arm}` })}
                      >
                        {cases.length} {side}
                        <span class="unseen">: show these cases</span>
                      </button>
                    ),
                )}
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
