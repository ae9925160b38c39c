import { type Html, html } from './html.ts';
import type { Change } from './numbers.ts';
import { domainOf, linear, place, roundTicks } from './scale.ts';

export interface DifferencePoint {
  value: number;
  interval: readonly [number, number] | null;
  change: Change;
}

const WIDTH = 300;
const SIDE = 26;
const HEIGHT = 26;
const TICKS = 6;

export type Domain = readonly [number, number];

/** One scale for all rows of a table, nought included. */
export function differenceDomain(points: readonly DifferencePoint[]): Domain {
  return domainOf([0, ...points.flatMap(({ value, interval }) => [value, ...(interval ?? [])])], 0.05);
}

/** The head of the column: what the places mean. */
export function differenceAxis(domain: Domain, show: (value: number) => string): Html {
  const x = linear(domain, [SIDE, WIDTH - SIDE]);
  return html`<svg class="plot row-plot" viewBox="0 0 ${WIDTH} 18" aria-hidden="true" focusable="false">${roundTicks(
    domain,
    TICKS,
  ).map((tick) => html`<text class="tick middle" x="${place(x(tick))}" y="13">${show(tick)}</text>`)}</svg>`;
}

/** A difference with its interval against nought. The shape tells better from worse from not proven. */
export function differenceRowPlot({ value, interval, change }: DifferencePoint, domain: Domain): Html {
  const x = linear(domain, [SIDE, WIDTH - SIDE]);
  const middle = HEIGHT / 2;
  const ticks = roundTicks(domain, TICKS);
  const kind = change === 'not proven' ? 'unproven' : change;
  return html`<svg class="plot row-plot ${kind}" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true" focusable="false">${ticks.map(
    (tick) => html`<path class="${tick === 0 ? 'zero' : 'grid'}" d="M${place(x(tick))} 0V${HEIGHT}"/>`,
  )}${
    interval !== null &&
    html`<path class="whisker" d="M${place(x(interval[0]))} ${middle}H${place(x(interval[1]))}M${place(x(interval[0]))} ${middle - 4}v8M${place(x(interval[1]))} ${middle - 4}v8"/>`
  }<path class="point" d="${pointPath(x(value), middle, change)}"/></svg>`;
}

function pointPath(x: number, y: number, change: Change): string {
  if (change === 'better') return `M${place(x)} ${y - 6}l6 10.5h-12Z`;
  if (change === 'worse') return `M${place(x)} ${y + 6}l6 -10.5h-12Z`;
  return `M${place(x - 4.5)} ${y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z`;
}
