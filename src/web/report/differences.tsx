import {
  formatP,
  formatPercent,
  formatPoints,
  isAlike,
  knownValue,
} from '../../evaluation/report/format-value.ts';
import type { MetricInfo } from '../../evaluation/report/metric-value.ts';
import type { PageComparison, PageData, PageMetricComparison } from '../../evaluation/report/page-data.ts';
import { quoted } from '../../text/phrasing.ts';
import { CONCLUSIONS, type Conclusion, isChange, range, signed } from './numbers.ts';
import { Section } from './parts.tsx';
import { domainOf, linear, place, roundTicks } from './scale.ts';

/** Shows the cases on which one arm is better than another by a metric. All three by their place in the report. */
export type ShowCases = (better: number, than: number, metric: number) => void;

interface DifferencesProps {
  data: PageData;
  onShow: ShowCases;
}

/** How far each arm lies from the first, metric by metric, and what of it is proven. Nothing for a single arm. */
export function Differences({ data, onShow }: DifferencesProps) {
  if (data.comparisons.length === 0) return null;
  return (
    <Section id="differences" title={`Differences from ${quoted(data.arms[0]?.name ?? '')}`}>
      <p class="hint">
        Paired on the same cases, with 95 % intervals. <span class="key">▲ proven better</span>{' '}
        <span class="key">▼ proven worse</span> <span class="key">○ not decided</span>{' '}
        <span class="key">= no difference that matters</span> Proven means p below 0.05 after Holm’s
        correction over the metrics of all arms; a difference matters from {formatPoints(data.header.margin)}{' '}
        or {formatPercent(data.header.margin)} on.
      </p>
      {data.comparisons.map((comparison, index) => (
        <Pair key={comparison.arm} comparison={comparison} data={data} isOpen={index === 0} onShow={onShow} />
      ))}
    </Section>
  );
}

interface DifferenceRow {
  metric: MetricInfo;
  compared: PageMetricComparison;
  /** On the scale of its table; null where there is nothing to relate it to. */
  point: DifferencePoint | null;
}

interface PairProps extends DifferencesProps {
  comparison: PageComparison;
  isOpen: boolean;
}

function Pair({ comparison, data, isOpen, onShow }: PairProps) {
  const rows = rowsOf(comparison, data);
  const alike = rows.filter(({ compared }) => isAlike(compared, compared.better + compared.worse));
  const apart = rows.filter((row) => !alike.includes(row));
  const shares = apart.filter(({ metric }) => metric.unit === 'share');
  const others = apart.filter(({ metric }) => metric.unit !== 'share');
  const missing = data.metrics.filter(({ id }) => !comparison.metrics.some(({ metric }) => metric === id));
  // What stands on top of the page need not be read twice.
  const findings = comparison.verdict.filter((sentence) => !data.verdict.includes(sentence));
  const title = `${quoted(comparison.arm)} against ${quoted(comparison.baseline)}`;
  const common = { data, comparison, onShow };
  return (
    <details class="pair" open={isOpen}>
      <summary>
        <h3>{title}</h3>
      </summary>
      {findings.length > 0 && (
        <ul class="findings">
          {findings.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {shares.length > 0 && (
        <DifferenceTable
          {...common}
          caption={`${title}: quality, as a difference of shares`}
          rows={shares}
          show={(tick) => signed(tick, 'share').replace(/0+$/, '').replace(/\.$/, '')}
        />
      )}
      {others.length > 0 && (
        <DifferenceTable
          {...common}
          caption={`${title}: effort, cost and time, drawn in per cent of ${quoted(comparison.baseline)}`}
          rows={others}
          show={(tick) => `${signed(tick * 100, 'tokens')} %`}
        />
      )}
      {alike.length > 0 && (
        <p class="hint">The same on every case: {alike.map(({ metric }) => metric.label).join(', ')}.</p>
      )}
      {missing.length > 0 && (
        <p class="hint">No data in both arms: {missing.map(({ label }) => label).join(', ')}.</p>
      )}
    </details>
  );
}

function rowsOf(comparison: PageComparison, { arms, metrics }: PageData): DifferenceRow[] {
  const baseline = arms.find(({ name }) => name === comparison.baseline);
  return comparison.metrics.flatMap((compared): DifferenceRow[] => {
    const metric = metrics.find(({ id }) => id === compared.metric);
    if (metric === undefined) return [];
    const by = metric.unit === 'share' ? 1 : (knownValue(baseline?.metrics[metric.id])?.value ?? 0);
    const { difference, interval } = compared;
    const point = {
      value: difference / by,
      interval: interval && ([interval[0] / by, interval[1] / by] as const),
      conclusion: compared.conclusion,
    };
    return [{ metric, compared, point: by > 0 ? point : null }];
  });
}

interface DifferenceTableProps extends DifferencesProps {
  caption: string;
  comparison: PageComparison;
  rows: readonly DifferenceRow[];
  show: (tick: number) => string;
}

function DifferenceTable({ caption, comparison, rows, show, data, onShow }: DifferenceTableProps) {
  const domain = differenceDomain(rows.flatMap(({ point }) => point ?? []));
  const placeOf = (arm: string) => data.arms.findIndex(({ name }) => name === arm);
  const [arm, baseline] = [placeOf(comparison.arm), placeOf(comparison.baseline)];
  return (
    <table class="differences">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Metric</th>
          <th scope="col" class="drawn">
            <span class="unseen">Drawn</span>
            <DifferenceAxis domain={domain} show={show} />
          </th>
          <th scope="col" class="number">
            Difference
          </th>
          <th scope="col" class="number">
            95 % interval
          </th>
          <th scope="col" class="number">
            p (Holm)
          </th>
          <th scope="col">Effect</th>
          <th scope="col">Cases</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ metric, compared, point }) => {
          const { difference, interval, adjustedP, conclusion } = compared;
          const metricPlace = data.metrics.indexOf(metric);
          return (
            <tr key={metric.id} class={isChange(conclusion) ? 'proven' : 'unproven'}>
              <th scope="row">{metric.label}</th>
              <td class="drawn">{point !== null && <DifferencePlot point={point} domain={domain} />}</td>
              <td class="number strong">
                {signed(difference, metric.unit)}
                <span class="unseen">, {CONCLUSIONS[conclusion]}</span>
              </td>
              <td class="number muted">
                {interval === null ? 'no interval' : range(interval, metric.unit, signed)}
              </td>
              <td class="number">
                {adjustedP === null ? (
                  <small>too few differ</small>
                ) : (
                  formatP(adjustedP).replace(/^p = |^p /, '')
                )}
              </td>
              <td class="effect">{effectText(compared)}</td>
              <td class="jumps">
                <Jump
                  count={compared.better}
                  side="better"
                  metric={metric.id}
                  onClick={() => onShow(arm, baseline, metricPlace)}
                />
                <Jump
                  count={compared.worse}
                  side="worse"
                  metric={metric.id}
                  onClick={() => onShow(baseline, arm, metricPlace)}
                />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function effectText({ effect }: PageMetricComparison): string {
  if (effect.value === null) return 'none';
  const size = effect.size === 'small' || effect.size === 'medium' ? `at least ${effect.size}` : effect.size;
  return `${size} (${effect.name} ${signed(effect.value, 'number').replace('+', '')})`;
}

interface JumpProps {
  count: number;
  side: 'better' | 'worse';
  metric: string;
  onClick: () => void;
}

/** Leads to the cases behind the number. */
function Jump({ count, side, metric, onClick }: JumpProps) {
  if (count === 0) return null;
  return (
    <button type="button" class="jump" data-metric={metric} onClick={onClick}>
      {count} {side}
      <span class="unseen">: show these cases</span>
    </button>
  );
}

interface DifferencePoint {
  value: number;
  interval: readonly [number, number] | null;
  conclusion: Conclusion;
}

type Domain = readonly [number, number];

const WIDTH = 300;
const SIDE = 26;
const HEIGHT = 26;
const TICKS = 6;

/** One scale for all rows of a table, nought included. */
function differenceDomain(points: readonly DifferencePoint[]): Domain {
  return domainOf([0, ...points.flatMap(({ value, interval }) => [value, ...(interval ?? [])])], 0.05);
}

/** The head of the column: what the places mean. */
function DifferenceAxis({ domain, show }: { domain: Domain; show: (value: number) => string }) {
  const x = linear(domain, [SIDE, WIDTH - SIDE]);
  return (
    <svg class="plot row-plot" viewBox={`0 0 ${WIDTH} 18`} aria-hidden="true" focusable="false">
      {roundTicks(domain, TICKS).map((tick) => (
        <text key={tick} class="tick middle" x={place(x(tick))} y="13">
          {show(tick)}
        </text>
      ))}
    </svg>
  );
}

/** A difference with its interval against nought. The shape tells better from worse from not proven. */
function DifferencePlot({ point, domain }: { point: DifferencePoint; domain: Domain }) {
  const { value, interval, conclusion } = point;
  const x = linear(domain, [SIDE, WIDTH - SIDE]);
  const middle = HEIGHT / 2;
  const kind = isChange(conclusion) ? conclusion : 'unproven';
  const [from, to] = interval?.map((bound) => place(x(bound))) ?? [];
  return (
    <svg
      class={`plot row-plot ${kind}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden="true"
      focusable="false"
    >
      {roundTicks(domain, TICKS).map((tick) => (
        <path key={tick} class={tick === 0 ? 'zero' : 'grid'} d={`M${place(x(tick))} 0V${HEIGHT}`} />
      ))}
      {interval !== null && (
        <path class="whisker" d={`M${from} ${middle}H${to}M${from} ${middle - 4}v8M${to} ${middle - 4}v8`} />
      )}
      <path class="point" d={pointPath(x(value), middle, conclusion)} />
    </svg>
  );
}

function pointPath(x: number, y: number, conclusion: Conclusion): string {
  if (conclusion === 'better') return `M${place(x)} ${y - 6}l6 10.5h-12Z`;
  if (conclusion === 'equivalent')
    return `M${place(x - 5)} ${y - 3.5}h10v2.4h-10ZM${place(x - 5)} ${y + 1.1}h10v2.4h-10Z`;
  if (conclusion === 'worse') return `M${place(x)} ${y + 6}l6 -10.5h-12Z`;
  return `M${place(x - 4.5)} ${y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z`;
}
