import type { MetricInfo } from '../report-data.ts';
import type { KnownValue } from './headline.ts';
import { type Html, html } from './html.ts';
import { type Box, placeLabels } from './label-places.ts';
import { markShape } from './mark-shape.ts';
import { readable } from './numbers.ts';
import { domainOf, linear, place, roundTicks, type Scale } from './scale.ts';

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
  const frame: Box = { left: MARGIN.left, right: width, top: MARGIN.top, bottom: inner.bottom };
  const labels = placeLabels(
    points.map((point) => ({ name: point.name, x: x(point.x.value), y: y(point.y.value) })),
    points.flatMap((point) => whiskerBoxes(point, x, y)),
    frame,
  );
  return html`<svg class="plot" role="img" aria-label="${alternative}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
${yTicks.map((tick) => html`<path class="grid" d="M${MARGIN.left} ${place(y(tick))}H${inner.right}"/><text class="tick end" x="${MARGIN.left - 8}" y="${place(y(tick) + 4)}">${tickText(tick, axes.yUnit)}</text>`)}
${xTicks.map((tick) => html`<path class="grid" d="M${place(x(tick))} ${MARGIN.top}V${inner.bottom}"/><text class="tick middle" x="${place(x(tick))}" y="${inner.bottom + 18}">${tickText(tick, axes.xUnit)}</text>`)}
<path class="axis" d="M${MARGIN.left} ${MARGIN.top}V${inner.bottom}H${inner.right}"/>
<text class="title" x="${MARGIN.left}" y="14">${axes.y} ↑</text><text class="title end" x="${inner.right}" y="${height - 6}">${axes.x} →</text>
${points.map((point) => crosshair(point, x, y))}
${points.map(({ arm, ...point }) => markShape(arm, x(point.x.value), y(point.y.value), 6.5))}
${labels.map(({ text, x, y }) => html`<text class="name" x="${place(x)}" y="${place(y)}">${text}</text>`)}
</svg>`;
}

function crosshair(point: ScatterPoint, x: Scale, y: Scale): Html {
  const [cx, cy] = [place(x(point.x.value)), place(y(point.y.value))];
  const across = point.x.interval?.map((value) => place(x(value)));
  const along = point.y.interval?.map((value) => place(y(value)));
  return html`${across !== undefined && html`<path class="whisker" d="M${across[0]} ${cy}H${across[1]}M${across[0]} ${place(Number(cy) - CAP)}v${2 * CAP}M${across[1]} ${place(Number(cy) - CAP)}v${2 * CAP}"/>`}${
    along !== undefined &&
    html`<path class="whisker" d="M${cx} ${along[0]}V${along[1]}M${place(Number(cx) - CAP)} ${along[0]}h${2 * CAP}M${place(Number(cx) - CAP)} ${along[1]}h${2 * CAP}"/>`
  }`;
}

/** What names had better not cover. */
function whiskerBoxes(point: ScatterPoint, x: Scale, y: Scale): Box[] {
  const [cx, cy] = [x(point.x.value), y(point.y.value)];
  const { interval: across } = point.x;
  const { interval: along } = point.y;
  return [
    ...(across === null ? [] : [{ left: x(across[0]), right: x(across[1]), top: cy - 1, bottom: cy + 1 }]),
    ...(along === null ? [] : [{ left: cx - 1, right: cx + 1, top: y(along[1]), bottom: y(along[0]) }]),
  ];
}

function tickText(value: number, unit: MetricInfo['unit']): string {
  return unit === 'share' || unit === 'money' ? String(value) : readable(value, unit);
}
