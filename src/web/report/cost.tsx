import { type KnownValue, knownValue } from '../../evaluation/report/format-value.ts';
import type { MetricInfo } from '../../evaluation/report/metric-value.ts';
import type { PageData } from '../../evaluation/report/page-data.ts';
import { type Box, placeLabels } from './label-places.ts';
import { headlineOf, priceOf, range, readable, spoken } from './numbers.ts';
import { ArmName, InBothWidths, Mark, NoData, Scrollable, Section } from './parts.tsx';
import { domainOf, linear, place, roundTicks, type Scale } from './scale.ts';

/** What an arm is worth against what it costs. Nothing for a single arm, which has nothing to stand against. */
export function Cost({ data }: { data: PageData }) {
  if (data.arms.length === 1) return null;
  const quality = headlineOf(data);
  const price = priceOf(data);
  if (quality === null || price === null) {
    return (
      <Section id="cost" title="Cost and quality">
        <p>
          <NoData />: {quality === null ? 'no case says what is right' : 'no tokens were counted'}.
        </p>
      </Section>
    );
  }
  const points = data.arms.flatMap(({ name, metrics }, arm): ScatterPoint[] => {
    const [x, y] = [knownValue(metrics[price.id]), knownValue(metrics[quality.id])];
    return x === null || y === null ? [] : [{ arm, name, x, y }];
  });
  const { currency } = data.header;
  const paidIn = price.id === 'cost.money' && currency !== null ? `, ${currency}` : '';
  const axes = {
    x: `${price.label} a turn${paidIn}`,
    y: quality.label,
    xUnit: price.unit,
    yUnit: quality.unit,
  };
  const said = points
    .map(({ name, x, y }) => `${name}: ${spoken(y, quality.unit)} for ${spoken(x, price.unit)}`)
    .join('; ');
  return (
    <Section id="cost" title="Cost and quality">
      <p class="hint">Better is up and to the left. Lines are 95 % intervals.</p>
      <figure>
        <InBothWidths
          draw={(size) => (
            <ScatterPlot
              points={points}
              axes={axes}
              size={size}
              alternative={`${axes.y} against ${axes.x}. ${said}.`}
            />
          )}
        />
      </figure>
      <Scrollable label="Cost and quality in numbers">
        <table>
          <caption>The same in numbers</caption>
          <thead>
            <tr>
              <th scope="col">Arm</th>
              {[axes.y, axes.x].map((title) => (
                <>
                  <th scope="col" class="number">
                    {title}
                  </th>
                  <th scope="col" class="number">
                    95 % interval
                  </th>
                </>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.arms.map(({ name, metrics }, arm) => (
              <tr key={name}>
                <th scope="row">
                  <ArmName arm={arm} name={name} />
                </th>
                <ValueCells value={knownValue(metrics[quality.id])} unit={quality.unit} />
                <ValueCells value={knownValue(metrics[price.id])} unit={price.unit} />
              </tr>
            ))}
          </tbody>
        </table>
      </Scrollable>
    </Section>
  );
}

function ValueCells({ value, unit }: { value: KnownValue | null; unit: MetricInfo['unit'] }) {
  if (value === null) {
    return (
      <td class="number" colSpan={2}>
        <NoData />
      </td>
    );
  }
  return (
    <>
      <td class="number">{readable(value.value, unit)}</td>
      <td class="number muted">{value.interval === null ? '–' : range(value.interval, unit)}</td>
    </>
  );
}

interface ScatterPoint {
  /** Its place among the arms, which gives it its shape. */
  arm: number;
  name: string;
  x: KnownValue;
  y: KnownValue;
}

interface Axes {
  x: string;
  y: string;
  xUnit: MetricInfo['unit'];
  yUnit: MetricInfo['unit'];
}

interface ScatterPlotProps {
  points: readonly ScatterPoint[];
  axes: Axes;
  size: keyof typeof SIZES;
  alternative: string;
}

const SIZES = { wide: { width: 760, height: 400 }, narrow: { width: 342, height: 320 } };
const MARGIN = { top: 28, right: 20, bottom: 46, left: 48 };
const CAP = 4;

/** Arms as points with an interval each way. Costs start at nought; arms on one spot share a label. */
function ScatterPlot({ points, axes, size, alternative }: ScatterPlotProps) {
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
  const frame: Box = { left: MARGIN.left, right: width, top: MARGIN.top, bottom: inner.bottom };
  const labels = placeLabels(
    points.map((point) => ({ name: point.name, x: x(point.x.value), y: y(point.y.value) })),
    points.flatMap((point) => whiskerBoxes(point, x, y)),
    frame,
  );
  return (
    <svg
      class="plot"
      role="img"
      aria-label={alternative}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
    >
      {roundTicks(yDomain, 6).map((tick) => (
        <>
          <path class="grid" d={`M${MARGIN.left} ${place(y(tick))}H${inner.right}`} />
          <text class="tick end" x={MARGIN.left - 8} y={place(y(tick) + 4)}>
            {tickText(tick, axes.yUnit)}
          </text>
        </>
      ))}
      {roundTicks([0, xHigh], size === 'wide' ? 7 : 4).map((tick) => (
        <>
          <path class="grid" d={`M${place(x(tick))} ${MARGIN.top}V${inner.bottom}`} />
          <text class="tick middle" x={place(x(tick))} y={inner.bottom + 18}>
            {tickText(tick, axes.xUnit)}
          </text>
        </>
      ))}
      <path class="axis" d={`M${MARGIN.left} ${MARGIN.top}V${inner.bottom}H${inner.right}`} />
      <text class="title" x={MARGIN.left} y="14">
        {axes.y} ↑
      </text>
      <text class="title end" x={inner.right} y={height - 6}>
        {axes.x} →
      </text>
      {points.map((point) => (
        <path key={point.arm} class="whisker" d={crosshair(point, x, y)} />
      ))}
      {points.map((point) => (
        <Mark key={point.arm} arm={point.arm} x={x(point.x.value)} y={y(point.y.value)} size={6.5} />
      ))}
      {labels.map((label) => (
        <text key={label.text} class="name" x={place(label.x)} y={place(label.y)}>
          {label.text}
        </text>
      ))}
    </svg>
  );
}

function crosshair(point: ScatterPoint, x: Scale, y: Scale): string {
  const [cx, cy] = [x(point.x.value), y(point.y.value)];
  const across = point.x.interval?.map((value) => place(x(value))) ?? null;
  const along = point.y.interval?.map((value) => place(y(value))) ?? null;
  return [
    across &&
      `M${across[0]} ${place(cy)}H${across[1]}${across.map((end) => `M${end} ${place(cy - CAP)}v${2 * CAP}`).join('')}`,
    along &&
      `M${place(cx)} ${along[0]}V${along[1]}${along.map((end) => `M${place(cx - CAP)} ${end}h${2 * CAP}`).join('')}`,
  ].join('');
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
