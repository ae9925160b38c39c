import { formatP } from '../format-value.ts';
import type { Comparison, MetricComparison, MetricInfo, ReportData } from '../report-data.ts';
import {
  type DifferencePoint,
  differenceAxis,
  differenceDomain,
  differenceRowPlot,
} from './difference-row-plot.ts';
import { knownValue } from './headline.ts';
import { type Html, html } from './html.ts';
import { changeOf, range, signed } from './numbers.ts';
import { section } from './section.ts';

interface DifferenceRow {
  metric: MetricInfo;
  compared: MetricComparison;
  /** On the scale of its table; null where there is nothing to relate it to. */
  point: DifferencePoint | null;
}

/** How far each arm lies from the first, metric by metric, and what of it is proven. Null for a single arm. */
export function differencesSection(data: ReportData): Html | null {
  if (data.comparisons.length === 0) return null;
  return section(
    'differences',
    `Differences from ${data.arms[0]?.name ?? ''}`,
    html`<p class="hint">Paired on the same cases, with 95 % intervals. <span class="key">▲ proven better</span> <span class="key">▼ proven worse</span> <span class="key">○ not proven</span> Proven means p below 0.05 after Holm’s correction over the metrics.</p>`,
    ...data.comparisons.map((comparison, index) => pair(comparison, data, index === 0)),
  );
}

function pair(comparison: Comparison, data: ReportData, isOpen: boolean): Html {
  const baseline = data.arms.find(({ name }) => name === comparison.baseline);
  const rows = comparison.metrics.flatMap((compared): DifferenceRow[] => {
    const metric = data.metrics.find(({ id }) => id === compared.metric);
    if (metric === undefined) return [];
    const by = metric.unit === 'share' ? 1 : (knownValue(baseline?.metrics[metric.id])?.value ?? 0);
    const point =
      by > 0
        ? {
            value: compared.difference / by,
            interval: compared.interval && ([compared.interval[0] / by, compared.interval[1] / by] as const),
            change: changeOf(compared, metric.better),
          }
        : null;
    return [{ metric, compared, point }];
  });
  const alike = rows.filter(({ compared }) => isAlike(compared));
  const apart = rows.filter((row) => !alike.includes(row));
  const shares = apart.filter(({ metric }) => metric.unit === 'share');
  const others = apart.filter(({ metric }) => metric.unit !== 'share');
  const missing = data.metrics.filter(({ id }) => !comparison.metrics.some(({ metric }) => metric === id));
  // What stands on top of the page need not be read twice.
  const findings = comparison.verdict.filter((sentence) => !data.verdict.includes(sentence));
  const title = `${comparison.arm} against ${comparison.baseline}`;
  return html`<details class="pair"${isOpen && html` open`}><summary><h3>${title}</h3></summary>
${findings.length > 0 && html`<ul class="findings">${findings.map((sentence) => html`<li>${sentence}</li>`)}</ul>`}
${shares.length > 0 && differenceTable(`${title}: quality, as a difference of shares`, shares, comparison, (tick) => signed(tick, 'share').replace(/0+$/, '').replace(/\.$/, ''))}
${others.length > 0 && differenceTable(`${title}: effort, cost and time, drawn in per cent of ${comparison.baseline}`, others, comparison, (tick) => `${signed(tick * 100, 'tokens')} %`)}
${alike.length > 0 && html`<p class="hint">The same on every case: ${alike.map(({ metric }) => metric.label).join(', ')}.</p>`}
${missing.length > 0 && html`<p class="hint">No data in both arms: ${missing.map(({ label }) => label).join(', ')}.</p>`}
</details>
`;
}

function differenceTable(
  caption: string,
  rows: readonly DifferenceRow[],
  comparison: Comparison,
  show: (tick: number) => string,
): Html {
  const domain = differenceDomain(rows.flatMap(({ point }) => point ?? []));
  return html`<table class="differences"><caption>${caption}</caption>
<thead><tr><th scope="col">Metric</th><th scope="col" class="drawn"><span class="unseen">Drawn</span>${differenceAxis(domain, show)}</th><th scope="col" class="number">Difference</th><th scope="col" class="number">95 % interval</th><th scope="col" class="number">p (Holm)</th><th scope="col">Effect</th><th scope="col">Cases</th></tr></thead>
<tbody>${rows.map(({ metric, compared, point }) => {
    const change = changeOf(compared, metric.better);
    return html`<tr class="${change === 'not proven' ? 'unproven' : 'proven'}"><th scope="row">${metric.label}</th><td class="drawn">${point !== null && differenceRowPlot(point, domain)}</td><td class="number strong">${signed(compared.difference, metric.unit)}<span class="unseen">, ${change}</span></td><td class="number muted">${compared.interval === null ? 'no interval' : range(compared.interval, metric.unit, signed)}</td><td class="number">${formatP(compared.adjustedP).replace(/^p = |^p /, '')}</td><td class="effect">${effectText(compared)}</td><td class="jumps">${jump(compared.better.length, 'better', compared, comparison)}${jump(compared.worse.length, 'worse', compared, comparison)}</td></tr>
`;
  })}</tbody></table>`;
}

/** Nothing to draw: no case sets the arms apart. */
function isAlike({ difference, interval, better, worse }: MetricComparison): boolean {
  const isPoint = interval === null || (interval[0] === 0 && interval[1] === 0);
  return difference === 0 && isPoint && better.length + worse.length === 0;
}

function effectText({ effect }: MetricComparison): string {
  return effect.value === null
    ? 'none'
    : `${effect.size} (${effect.name} ${signed(effect.value, 'number').replace('+', '')})`;
}

/** Shows the cases behind the number; the script gives it its effect. */
function jump(
  count: number,
  side: 'better' | 'worse',
  { metric }: MetricComparison,
  { arm, baseline }: Comparison,
): Html | null {
  if (count === 0) return null;
  const [winner, loser] = side === 'better' ? [arm, baseline] : [baseline, arm];
  return html`<button type="button" class="jump" data-metric="${metric}" data-better="${winner}" data-than="${loser}">${count} ${side}<span class="unseen">: show these cases</span></button>`;
}
