import { formatMetricValue, HEADLINE_METRIC, toKnownValue } from '../../evaluation/report/format-metric.ts';
import type { ReportPageData } from '../../evaluation/report/report-data.ts';
import { ReportSection } from './report-components.tsx';

const WIDTH = 760;
const HEIGHT = 360;
const LEFT = 64;
const RIGHT = WIDTH - 36;
const TOP = 34;
const BOTTOM = HEIGHT - 58;
const LABEL_HEIGHT = 16;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** The correctness of each arm against its cost. Renders nothing for a single arm, or without either. */
export function CostPlot({ data: { arms, metrics, header } }: { data: ReportPageData }) {
  const quality = metrics.find(({ id }) => id === HEADLINE_METRIC);
  const cost = metrics.find(({ primary, group }) => primary && group === 'cost');
  const points = arms.flatMap(({ name, metrics: values }) => {
    const [x, y] = [toKnownValue(values[cost?.id ?? '']), toKnownValue(values[quality?.id ?? ''])];
    return x === null || y === null ? [] : [{ name, x, y }];
  });
  if (arms.length < 2 || points.length === 0 || quality === undefined || cost === undefined) return null;
  const highest = roundUp(Math.max(...points.map(({ x }) => x.interval?.[1] ?? x.value)));
  const x = (value: number) => Math.round(LEFT + (value / highest) * (RIGHT - LEFT));
  const y = (value: number) => Math.round(BOTTOM - value * (BOTTOM - TOP));
  const unit = cost.unit === 'money' ? ` in ${header.currency}` : '';
  const described = points.map(
    ({ name, ...point }) =>
      `${name}: ${formatMetricValue(point.y.value, 'share')} for ${formatMetricValue(point.x.value, cost.unit)}`,
  );
  let lowest = 0;
  return (
    <ReportSection id="cost" title="Correctness and cost">
      <p class="hint">Higher and further left is better. Lines are 95% intervals.</p>
      <svg
        class="plot"
        role="img"
        aria-label={`${quality.label} against ${cost.label.toLowerCase()}. ${described.join('; ')}.`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      >
        {TICKS.map((tick) => (
          <>
            <path class="grid" d={`M${LEFT} ${y(tick)}H${RIGHT}M${x(tick * highest)} ${TOP}V${BOTTOM}`} />
            <text class="end" x={LEFT - 8} y={y(tick) + 4}>
              {tick}
            </text>
            <text class="middle" x={x(tick * highest)} y={BOTTOM + 22}>
              {Number((tick * highest).toPrecision(3))}
            </text>
          </>
        ))}
        <text class="title" x={LEFT} y="18">
          {quality.label} ↑
        </text>
        <text class="title end" x={RIGHT} y={HEIGHT - 6}>
          {cost.label} per turn{unit} →
        </text>
        {points
          .toSorted((a, b) => b.y.value - a.y.value)
          .map((point) => {
            const [column, row] = [x(point.x.value), y(point.y.value)];
            const [left, right] = (point.x.interval ?? []).map(x);
            const [bottom, top] = (point.y.interval ?? []).map(y);
            const isLeft = column > WIDTH / 2;
            // Labels are below one another where they would overlap.
            lowest = Math.max(row - 8, lowest + LABEL_HEIGHT);
            return (
              <>
                <path
                  class="whisker"
                  d={`M${left ?? column} ${row}H${right ?? column}M${column} ${bottom ?? row}V${top ?? row}`}
                />
                <circle class="mark" cx={column} cy={row} r="6" />
                <text class={isLeft ? 'name end' : 'name'} x={column + (isLeft ? -12 : 12)} y={lowest}>
                  {point.name}
                </text>
              </>
            );
          })}
      </svg>
    </ReportSection>
  );
}

/** To a value with quarters that are easy to read. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return power * ([1, 2, 4, 8].find((factor) => factor * power >= value) ?? 10);
}
