import { cutText } from '../../../domain/cut-text.ts';
import type { MetricInfo } from '../report-data.ts';
import type { KnownValue } from './headline.ts';
import { type Html, html } from './html.ts';
import { markShape } from './mark-shape.ts';
import { readable } from './numbers.ts';
import { domainOf, linear, place, roundTicks } from './scale.ts';

export interface ScatterPoint {
  /** Its place among the arms, which gives it its shape. */
  arm: number;
  name: string;
  x: KnownValue;
  y: KnownValue;
}

export interface Axes {
  x: string;
  y: string;
  xUnit: MetricInfo['unit'];
  yUnit: MetricInfo['unit'];
}

const SIZES = { wide: { width: 760, height: 400 }, narrow: { width: 342, height: 320 } };
const MARGIN = { top: 28, right: 20, bottom: 46, left: 48 };
const CAP = 4;
const LABEL = { height: 17, character: 7.4, most: 22 };

/** Arms as points with an interval each way. Costs start at nought; arms on one spot share a label. */
export function scatterPlot(
  points: readonly ScatterPoint[],
  axes: Axes,
  size: keyof typeof SIZES,
  alternative: string,
): Html {
  const { width, height } = SIZES[size];
  const inner = { right: width - MARGIN.right, bottom: height - MARGIN.bottom };
  const bounds = (axis: 'x' | 'y') =>
    points.flatMap((point) => [point[axis].value, ...(point[axis].interval ?? [])]);
  const [, xHigh] = domainOf([0, ...bounds('x')], 0.1);
  const [yLow, yHigh] = domainOf(bounds('y'), 0.12);
  const yDomain: [number, number] =
    axes.yUnit === 'share' ? [Math.max(0, yLow), Math.min(1, yHigh)] : [yLow, yHigh];
  const x = linear([0, xHigh], [MARGIN.left, inner.right]);
  const y = linear(yDomain, [inner.bottom, MARGIN.top]);
  const xTicks = roundTicks([0, xHigh], size === 'wide' ? 7 : 4);
  const yTicks = roundTicks(yDomain, 6);
  return html`<svg class="plot" role="img" aria-label="${alternative}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
${yTicks.map((tick) => html`<path class="grid" d="M${MARGIN.left} ${place(y(tick))}H${inner.right}"/><text class="tick end" x="${MARGIN.left - 8}" y="${place(y(tick) + 4)}">${tickText(tick, axes.yUnit)}</text>`)}
${xTicks.map((tick) => html`<path class="grid" d="M${place(x(tick))} ${MARGIN.top}V${inner.bottom}"/><text class="tick middle" x="${place(x(tick))}" y="${inner.bottom + 18}">${tickText(tick, axes.xUnit)}</text>`)}
<path class="axis" d="M${MARGIN.left} ${MARGIN.top}V${inner.bottom}H${inner.right}"/>
<text class="title" x="${MARGIN.left}" y="14">${axes.y} ↑</text><text class="title end" x="${inner.right}" y="${height - 6}">${axes.x} →</text>
${points.map((point) => crosshair(point, x, y))}
${points.map(({ arm, ...point }) => markShape(arm, x(point.x.value), y(point.y.value), 6.5))}
${labels(points, x, y, inner.right)}
</svg>`;
}

function crosshair(point: ScatterPoint, x: (value: number) => number, y: (value: number) => number): Html {
  const [cx, cy] = [place(x(point.x.value)), place(y(point.y.value))];
  const across = point.x.interval?.map((value) => place(x(value)));
  const along = point.y.interval?.map((value) => place(y(value)));
  return html`${across !== undefined && html`<path class="whisker" d="M${across[0]} ${cy}H${across[1]}M${across[0]} ${place(Number(cy) - CAP)}v${2 * CAP}M${across[1]} ${place(Number(cy) - CAP)}v${2 * CAP}"/>`}${
    along !== undefined &&
    html`<path class="whisker" d="M${cx} ${along[0]}V${along[1]}M${place(Number(cx) - CAP)} ${along[0]}h${2 * CAP}M${place(Number(cx) - CAP)} ${along[1]}h${2 * CAP}"/>`
  }`;
}

/** One for all arms on the same spot; none upon another. */
function labels(
  points: readonly ScatterPoint[],
  x: (value: number) => number,
  y: (value: number) => number,
  right: number,
): Html[] {
  const spots: { x: number; y: number; names: string[] }[] = [];
  for (const point of points) {
    const [px, py] = [x(point.x.value), y(point.y.value)];
    const same = spots.find((spot) => Math.hypot(spot.x - px, spot.y - py) < 7);
    if (same === undefined) spots.push({ x: px, y: py, names: [point.name] });
    else same.names.push(point.name);
  }
  const taken: { left: number; right: number; y: number }[] = [];
  return spots.map((spot) => {
    const all = spot.names.join(', ');
    const text = all.length > LABEL.most ? `${cutText(all, LABEL.most - 1)}…` : all;
    const wide = text.length * LABEL.character;
    const isLeft = spot.x + 10 + wide > right;
    const left = isLeft ? spot.x - 10 - wide : spot.x + 10;
    let top = Math.max(MARGIN.top + 8, spot.y - 10);
    const collides = () =>
      taken.some(
        (other) => left < other.right && left + wide > other.left && Math.abs(other.y - top) < LABEL.height,
      );
    while (collides()) top += 2;
    taken.push({ left, right: left + wide, y: top });
    return html`<text class="name${isLeft ? ' end' : ''}" x="${place(isLeft ? spot.x - 10 : spot.x + 10)}" y="${place(top)}">${text}</text>`;
  });
}

function tickText(value: number, unit: MetricInfo['unit']): string {
  return unit === 'share' || unit === 'money' ? String(value) : readable(value, unit);
}
