import type { Arm, MetricInfo, MetricValue, ReportData } from '../report-data.ts';
import { armCards } from './arm-cards.ts';
import { type Html, html } from './html.ts';
import { markedName } from './mark-shape.ts';
import { bestOf, changeOf, valueWithRange } from './numbers.ts';
import { scrollable, section } from './section.ts';
import { tagTable } from './tag-table.ts';

const GROUPS: Record<MetricInfo['group'], string> = {
  answer: 'Answers',
  retrieval: 'Retrieval',
  citation: 'Citations',
  abstention: 'Abstention',
  decision: 'The decision to search',
  effort: 'Effort',
  cost: 'Cost',
  time: 'Time',
  judge: 'Judged by a model',
};

/** Every metric of every arm, the best of a row marked by a star. */
export function armsSection(data: ReportData): Html {
  const isAlone = data.arms.length === 1;
  return section(
    'arms',
    isAlone ? 'What was measured' : 'The arms side by side',
    armCards(data),
    scrollable('Metrics by arm', metricsTable(data)),
    tagTable(data),
    explanations(data),
  );
}

function metricsTable(data: ReportData): Html {
  const { metrics, arms } = data;
  const groups = [...new Set(metrics.map(({ group }) => group))];
  const marks =
    arms.length === 1
      ? null
      : html` <span class="key">★ best value measured</span> <span class="key">▲ ▼ proven better or worse than ${arms[0]?.name}, after Holm’s correction</span>`;
  return html`<table class="metrics${arms.length === 1 ? ' alone' : ''}"><caption>Values with their 95 % intervals.${marks}</caption>
<thead><tr><th scope="col">Metric</th>${arms.map(({ name }, index) => html`<th scope="col" class="number">${markedName(index, name)}</th>`)}<th scope="col" class="number">Cases</th></tr></thead>
${groups.map(
  (
    group,
  ) => html`<tbody><tr class="group"><th scope="rowgroup" colspan="${arms.length + 2}"><span>${GROUPS[group]}</span></th></tr>
${metrics.filter((metric) => metric.group === group).map((metric) => metricRow(metric, data))}</tbody>
`,
)}</table>`;
}

function metricRow(metric: MetricInfo, { arms, comparisons }: ReportData): Html {
  const values = new Map(arms.map(({ name, metrics }) => [name, metrics[metric.id]]));
  const best = bestOf(values, metric);
  const reasons = new Set(Array.from(values.values(), reasonOf));
  const [reason] = reasons;
  const head = html`<th scope="row">${metric.label}${metric.better === 'lower' && html` <small>less is better</small>`}</th>`;
  if (reasons.size === 1 && typeof reason === 'string') {
    return html`<tr>${head}<td colspan="${arms.length + 1}"><span class="none reason">no data: ${reason}</span></td></tr>
`;
  }
  const proven = (arm: Arm) => {
    const compared = comparisons
      .find((comparison) => comparison.arm === arm.name)
      ?.metrics.find((comparison) => comparison.metric === metric.id);
    return compared === undefined ? null : changeMark(changeOf(compared, metric.better));
  };
  return html`<tr>${head}${arms.map(
    (arm) =>
      html`<td class="number${best.has(arm.name) ? ' best' : ''}">${proven(arm)}${best.has(arm.name) && html`<span class="star" aria-hidden="true">★</span><span class="unseen">best, </span>`}${valueWithRange(values.get(arm.name), metric.unit)}</td>`,
  )}<td class="number muted">${countsOf([...values.values()])}</td></tr>
`;
}

function changeMark(change: ReturnType<typeof changeOf>): Html | null {
  if (change === 'not proven') return null;
  return html`<span class="change ${change}" aria-hidden="true">${change === 'better' ? '▲' : '▼'}</span><span class="unseen">proven ${change}, </span>`;
}

function reasonOf(value: MetricValue | undefined): string | null {
  return value?.status === 'no data' ? value.reason : null;
}

function countsOf(values: readonly (MetricValue | undefined)[]): string {
  const counts = values.flatMap((value) => (value?.status === 'value' ? [value.n] : []));
  const low = Math.min(...counts);
  const high = Math.max(...counts);
  return low === high ? String(low) : `${low}–${high}`;
}

function explanations({ metrics }: ReportData): Html {
  return html`<details class="aside"><summary>What the metrics say</summary><dl class="meanings">${metrics.map(
    ({ id, label, description }) =>
      html`<div><dt>${label} <code>${id}</code></dt><dd>${description}</dd></div>`,
  )}</dl></details>`;
}
