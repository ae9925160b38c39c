import {
  formatMetricValue,
  type KnownMetricValue,
  toKnownValue,
} from '../../evaluation/report/format-metric.ts';
import type { MetricInfo, ReportPageData } from '../../evaluation/report/report-data.ts';
import { ArmShape, NoDataLabel, ReportSection } from './report-components.tsx';
import { findCostMetric, findHeadlineMetric, formatInterval } from './report-metrics.ts';

/** Plots the quality of each arm against its cost. Renders nothing for a single arm. */
export function CostPlot({ data }: { data: ReportPageData }) {
  if (data.arms.length === 1) return null;
  const quality = findHeadlineMetric(data);
  const cost = findCostMetric(data);
  if (quality === null || cost === null) {
    return (
      <ReportSection id="cost" title="Cost and quality">
        <p>
          <NoDataLabel />: {quality === null ? 'no case defines a correct answer' : 'no tokens were counted'}.
        </p>
      </ReportSection>
    );
  }
  const points = data.arms.flatMap(({ name, metrics }, arm): PlotPoint[] => {
    const [x, y] = [toKnownValue(metrics[cost.id]), toKnownValue(metrics[quality.id])];
    return x === null || y === null ? [] : [{ arm, name, x, y }];
  });
  const currency = cost.unit === 'money' ? data.header.currency : null;
  return (
    <ReportSection id="cost" title="Cost and quality">
      <p class="hint">Higher and further left is better. Lines are 95% intervals.</p>
      <ScatterPlot
        points={points}
        x={{ title: `${cost.label} per turn${currency === null ? '' : `, ${currency}`}`, unit: cost.unit }}
        y={{ title: quality.label, unit: quality.unit }}
      />
    </ReportSection>
  );
}

interface PlotPoint {
  /** The index of the arm. */
  arm: number;
  name: string;
  x: KnownMetricValue;
  y: KnownMetricValue;
}

interface PlotAxis {
  title: string;
  unit: MetricInfo['unit'];
}

const WIDTH = 760;
const HEIGHT = 400;
const LEFT = 64;
const RIGHT = WIDTH - 20;
const TOP = 34;
const BOTTOM = HEIGHT - 58;
const LABEL_HEIGHT = 16;

/** The x axis starts at 0. */
function ScatterPlot(props: { points: readonly PlotPoint[]; x: PlotAxis; y: PlotAxis }) {
  const { points, x: xAxis, y: yAxis } = props;
  const xDomain: Domain = [0, paddedDomain(points.map(({ x }) => x))[1]];
  const [low, high] = paddedDomain(points.map(({ y }) => y));
  const yDomain: Domain = yAxis.unit === 'share' ? [Math.max(0, low), Math.min(1, high)] : [low, high];
  const x = linearScale(xDomain, [LEFT, RIGHT]);
  const y = linearScale(yDomain, [BOTTOM, TOP]);
  const described = points.map(
    (point) =>
      `${point.name}: ${describeValue(point.y, yAxis.unit)} for ${describeValue(point.x, xAxis.unit)}`,
  );
  return (
    <svg
      class="plot"
      role="img"
      aria-label={`${yAxis.title} against ${xAxis.title}. ${described.join('; ')}.`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    >
      {roundTicks(yDomain, 5).map((tick) => (
        <>
          <path class="grid" d={`M${LEFT} ${y(tick)}H${RIGHT}`} />
          <text class="end" x={LEFT - 8} y={y(tick) + 4}>
            {formatTick(tick, yAxis.unit)}
          </text>
        </>
      ))}
      {roundTicks(xDomain, 5).map((tick) => (
        <>
          <path class="grid" d={`M${x(tick)} ${TOP}V${BOTTOM}`} />
          <text class="middle" x={x(tick)} y={BOTTOM + 22}>
            {formatTick(tick, xAxis.unit)}
          </text>
        </>
      ))}
      <path class="axis" d={`M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}`} />
      <text class="title" x={LEFT} y="18">
        {yAxis.title} ↑
      </text>
      <text class="title end" x={RIGHT} y={HEIGHT - 6}>
        {xAxis.title} →
      </text>
      {points.map((point) => (
        <path key={point.arm} class="whisker" d={whiskerPath(point, x, y)} />
      ))}
      {points.map((point) => (
        <ArmShape key={point.arm} index={point.arm} x={x(point.x.value)} y={y(point.y.value)} radius={6.5} />
      ))}
      {placeLabels(points, x, y).map((label) => (
        <text key={label.name} class={label.isLeft ? 'name end' : 'name'} x={label.x} y={label.y}>
          {label.name}
        </text>
      ))}
    </svg>
  );
}

/** Labels are inside the plot, and below one another where they would overlap. */
function placeLabels(points: readonly PlotPoint[], x: Scale, y: Scale) {
  let lowest = 0;
  return points
    .toSorted((a, b) => b.y.value - a.y.value)
    .map(({ name, x: { value }, y: { value: height } }) => {
      const isLeft = x(value) > WIDTH / 2;
      lowest = Math.max(y(height) - 8, lowest + LABEL_HEIGHT);
      return { name, isLeft, x: x(value) + (isLeft ? -12 : 12), y: lowest };
    });
}

function whiskerPath({ x: cost, y: quality }: PlotPoint, x: Scale, y: Scale): string {
  const [column, row] = [x(cost.value), y(quality.value)];
  const horizontal = cost.interval && `M${x(cost.interval[0])} ${row}H${x(cost.interval[1])}`;
  const vertical = quality.interval && `M${column} ${y(quality.interval[0])}V${y(quality.interval[1])}`;
  return `${horizontal ?? ''}${vertical ?? ''}`;
}

function describeValue({ value, interval }: KnownMetricValue, unit: MetricInfo['unit']): string {
  const range = interval === null ? '' : ` (${formatInterval(interval, unit)})`;
  return `${formatMetricValue(value, unit)}${range}`;
}

function formatTick(value: number, unit: MetricInfo['unit']): string {
  return unit === 'ms' ? formatMetricValue(value, unit) : String(value);
}

type Domain = readonly [low: number, high: number];
/** From a value to a coordinate. */
type Scale = (value: number) => number;

function linearScale([low, high]: Domain, [start, end]: readonly [number, number]): Scale {
  const span = high - low || 1;
  return (value) => Math.round((start + ((value - low) / span) * (end - start)) * 10) / 10;
}

/** All values with their intervals, with space around them. */
function paddedDomain(values: readonly KnownMetricValue[]): Domain {
  const all = values.flatMap(({ value, interval }) => [value, ...(interval ?? [])]);
  if (all.length === 0) return [0, 1];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const padding = 0.1 * (high - low || Math.abs(high) || 1);
  return [low - padding, high + padding];
}

/** About `count` round numbers inside the domain. */
function roundTicks([low, high]: Domain, count: number): number[] {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10) * power;
  const first = Math.ceil(low / step);
  const length = Math.floor(high / step) - first + 1;
  return Array.from({ length }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}
