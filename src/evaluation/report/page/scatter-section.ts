import type { MetricInfo, ReportData } from '../report-data.ts';
import { headlineOf, type KnownValue, knownValue, priceOf } from './headline.ts';
import { type Html, html } from './html.ts';
import { markedName } from './mark-shape.ts';
import { noData, range, readable } from './numbers.ts';
import { type ScatterPoint, scatterPlot } from './scatter-plot.ts';
import { inBothWidths, scrollable, section } from './section.ts';

/** What an arm is worth against what it costs. Null for a single arm, which has nothing to stand against. */
export function scatterSection(data: ReportData): Html | null {
  if (data.arms.length === 1) return null;
  const quality = headlineOf(data);
  const price = priceOf(data);
  if (quality === null || price === null) {
    return section(
      'cost',
      'Cost and quality',
      html`<p>${noData()}: ${quality === null ? 'no case says what is right' : 'no tokens were counted'}.</p>`,
    );
  }
  const points = data.arms.flatMap(({ name, metrics }, arm): ScatterPoint[] => {
    const [x, y] = [knownValue(metrics[price.id]), knownValue(metrics[quality.id])];
    return x === null || y === null ? [] : [{ arm, name, x, y }];
  });
  const axes = { x: axisTitle(price, data), y: quality.label, xUnit: price.unit, yUnit: quality.unit };
  const said = points
    .map(({ name, x, y }) => `${name}: ${spoken(y, quality)} for ${spoken(x, price)}`)
    .join('; ');
  return section(
    'cost',
    'Cost and quality',
    html`<p class="hint">Better is up and to the left. Lines are 95 % intervals.</p><figure>${inBothWidths(
      (width) => scatterPlot(points, axes, width, `${quality.label} against ${axes.x}. ${said}.`),
    )}</figure>`,
    scrollable(
      'Cost and quality in numbers',
      html`<table><caption>The same in numbers</caption><thead><tr><th scope="col">Arm</th><th scope="col" class="number">${quality.label}</th><th scope="col" class="number">95 % interval</th><th scope="col" class="number">${axes.x}</th><th scope="col" class="number">95 % interval</th></tr></thead><tbody>${data.arms.map(
        ({ name, metrics }, arm) =>
          html`<tr><th scope="row">${markedName(arm, name)}</th>${cells(knownValue(metrics[quality.id]), quality)}${cells(knownValue(metrics[price.id]), price)}</tr>`,
      )}</tbody></table>`,
    ),
  );
}

function axisTitle({ id, label }: MetricInfo, { header }: ReportData): string {
  return id === 'cost.money'
    ? `${label} a turn${header.currency === null ? '' : `, ${header.currency}`}`
    : `${label} a turn`;
}

function cells(value: KnownValue | null, { unit }: MetricInfo): Html {
  if (value === null) return html`<td class="number" colspan="2">${noData()}</td>`;
  return html`<td class="number">${readable(value.value, unit)}</td><td class="number muted">${value.interval === null ? '–' : range(value.interval, unit)}</td>`;
}

function spoken({ value, interval }: KnownValue, { unit }: MetricInfo): string {
  return `${readable(value, unit)}${interval === null ? '' : ` (${readable(interval[0], unit)} to ${readable(interval[1], unit)})`}`;
}
