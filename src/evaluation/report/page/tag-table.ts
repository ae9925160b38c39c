import type { ReportData } from '../report-data.ts';
import { headlineOf } from './headline.ts';
import { type Html, html } from './html.ts';
import { markedName } from './mark-shape.ts';
import { noData, readable } from './numbers.ts';
import { place } from './scale.ts';
import { scrollable } from './section.ts';

const BAR_WIDTH = 80;

/** The headline for each kind of case: where an arm is strong, and where it is not. Null without tags. */
export function tagTable(data: ReportData): Html | null {
  const headline = headlineOf(data);
  const tags = [...new Set(data.arms.flatMap(({ tags }) => Object.keys(tags)))];
  if (headline === null || tags.length === 0) return null;
  const { arms } = data;
  const rows = tags.map(
    (
      tag,
    ) => html`<tr><th scope="row">${tag}</th><td class="number muted">${arms[0]?.tags[tag]?.n ?? 0}</td>${arms.map(
      ({ tags }) => html`<td class="number">${tagValue(tags[tag]?.metrics[headline.id] ?? null)}</td>`,
    )}</tr>
`,
  );
  return scrollable(
    `${headline.label} by tag`,
    html`<table class="tags${arms.length === 1 ? ' alone' : ''}"><caption>${headline.label}, by tag</caption><thead><tr><th scope="col">Tag</th><th scope="col" class="number">Cases</th>${arms.map(
      ({ name }, index) => html`<th scope="col" class="number">${markedName(index, name)}</th>`,
    )}</tr></thead><tbody>${rows}</tbody></table>`,
  );
}

function tagValue(value: number | null): Html {
  if (value === null) return noData();
  const share = Math.min(1, Math.max(0, value));
  return html`<span class="with-bar"><svg viewBox="0 0 ${BAR_WIDTH} 8" width="${BAR_WIDTH}" height="8" aria-hidden="true" focusable="false"><rect class="track" width="${BAR_WIDTH}" height="8" rx="2"/><rect class="fill" width="${place(share * BAR_WIDTH)}" height="8" rx="2"/></svg> <span class="value">${readable(value, 'share')}</span></span>`;
}
