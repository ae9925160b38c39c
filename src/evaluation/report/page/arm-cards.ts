import type { Arm, MetricInfo, ReportData } from '../report-data.ts';
import { headlineOf, knownValue } from './headline.ts';
import { type Html, html } from './html.ts';
import { markedName } from './mark-shape.ts';
import { noData, range, readable } from './numbers.ts';
import { linear, place } from './scale.ts';

const ALSO = ['cost.tokens', 'cost.money', 'time.total'];
const BAR = { width: 240, height: 14 };

/** Each arm at a glance: the headline with its interval, and what a turn takes. */
export function armCards(data: ReportData): Html {
  const headline = headlineOf(data);
  const also = data.metrics.filter(
    ({ id }) => ALSO.includes(id) && data.arms.some(({ metrics }) => metrics[id]?.status === 'value'),
  );
  return html`<ul class="cards">${data.arms.map((arm, index) => armCard(arm, index, headline, also))}</ul>
`;
}

function armCard(arm: Arm, index: number, headline: MetricInfo | null, also: readonly MetricInfo[]): Html {
  return html`<li class="card"><h3>${markedName(index, arm.name)}</h3>
${headline === null ? html`<p class="big">${noData()}</p>` : headlineFigure(arm, headline)}
<dl>${also.map(({ id, label, unit }) => {
    const value = knownValue(arm.metrics[id]);
    return html`<div><dt>${label}</dt><dd>${value === null ? noData() : readable(value.value, unit)}</dd></div>`;
  })}${arm.errors > 0 && html`<div><dt>Runs in error</dt><dd>${arm.errors}</dd></div>`}</dl></li>
`;
}

function headlineFigure({ metrics }: Arm, { id, label, unit }: MetricInfo): Html {
  const value = knownValue(metrics[id]);
  if (value === null) return html`<p class="big">${noData()}</p><p class="under">${label}</p>`;
  return html`<p class="big">${(value.value * 100).toFixed(1)}<span class="unit"> %</span></p>
<p class="under">${label}, ${value.n} ${value.n === 1 ? 'case' : 'cases'}</p>
${intervalBar(value.value, value.interval)}
<p class="under range">${value.interval === null ? 'no interval' : html`95 % interval <span class="key">${range(value.interval, unit)}</span>`}</p>`;
}

function intervalBar(value: number, interval: readonly [number, number] | null): Html {
  const x = linear([0, 1], [1, BAR.width - 1]);
  const middle = BAR.height / 2;
  return html`<svg class="bar" viewBox="0 0 ${BAR.width} ${BAR.height}" aria-hidden="true" focusable="false"><path class="track" d="M1 ${middle}H${BAR.width - 1}"/>${
    interval !== null &&
    html`<path class="span" d="M${place(x(interval[0]))} ${middle}H${place(x(interval[1]))}"/>`
  }<circle class="dot" cx="${place(x(value))}" cy="${middle}" r="4"/></svg>`;
}
