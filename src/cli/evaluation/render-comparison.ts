import type { MetricComparison } from '../../evaluation/report/comparison.ts';
import { formatP, formatValue, isAlike, knownValue } from '../../evaluation/report/format-value.ts';
import type { MetricInfo } from '../../evaluation/report/metric-value.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { HEADLINE } from '../../evaluation/statistics/compare-columns.ts';
import { cutToWidth, displayWidth, padToWidth } from '../../text/display-width.ts';
import { quoted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrap } from '../terminal/wrapping.ts';

export const LABEL_WIDTH = 26;
export const GAP = '  ';
const MOST_IDS = 8;

/** Where an arm parts from the first: difference, interval, p after Holm, effect, and the cases. */
export function comparisonTables(data: ReportData, terminal: Terminal, width: number): string[][] {
  return data.comparisons.map(({ arm, baseline, metrics }) => {
    const labelOf = (id: string) => data.metrics.find((metric) => metric.id === id)?.label ?? id;
    const isSame = (one: MetricComparison) => isAlike(one, one.better.length + one.worse.length);
    const parting = metrics.filter((comparison) => !isSame(comparison));
    const alike = metrics.filter(isSame).map(({ metric }) => labelOf(metric));
    // What no arm has is told once, below.
    const missing = data.metrics.filter(
      ({ id }) =>
        !metrics.some(({ metric }) => metric === id) && data.arms.some((one) => knownValue(one.metrics[id])),
    );
    const title = terminal.text(`${quoted(arm)} against ${quoted(baseline)}`, 'bold');
    // What is not in the table is named, as on the page.
    const rest = [
      ...(alike.length > 0 ? [`The same on every case: ${alike.join(', ')}.`] : []),
      ...(missing.length > 0
        ? [`No data in both arms: ${missing.map(({ label }) => label).join(', ')}.`]
        : []),
    ]
      .flatMap((sentence) => wrap(sentence, width - 2))
      .map((line) => terminal.text(`  ${line}`, 'dim'));
    if (parting.length === 0) return [title, ...rest];
    const heading = `${'  metric'.padEnd(LABEL_WIDTH)}${GAP}${'diff'.padStart(8)}${GAP}${'95 % interval'.padEnd(17)}${GAP}${'p (Holm)'.padEnd(9)}${GAP}conclusion`;
    const rows = parting.flatMap((comparison) => {
      const info = data.metrics.find(({ id }) => id === comparison.metric);
      return info === undefined ? [] : [comparisonRow(comparison, info, terminal, width)];
    });
    const headline = parting.find(({ metric }) => metric === HEADLINE);
    const differing =
      headline === undefined
        ? []
        : [
            ...casesLine(`only ${quoted(arm)} right:`, headline.better, width),
            ...casesLine(`only ${quoted(baseline)} right:`, headline.worse, width),
          ];
    return [
      title,
      terminal.text(heading.slice(0, width), 'dim'),
      ...rows,
      ...differing.map((line) => terminal.text(line)),
      ...rest,
    ];
  });
}

function comparisonRow(
  comparison: MetricComparison,
  info: MetricInfo,
  terminal: Terminal,
  width: number,
): string {
  const { difference, interval, adjustedP, effect, conclusion } = comparison;
  const signed = (value: number) =>
    `${value > 0 ? '+' : value < 0 ? '-' : ''}${formatValue(Math.abs(value), info.unit).replace(/ ms$/, '')}`;
  const range = interval === null ? '' : `${signed(interval[0])} to ${signed(interval[1])}`;
  const isClear = effect.size !== 'unclear' && effect.size !== 'none';
  const strength = styleOf(comparison) !== null && isClear ? `, effect at least ${effect.size}` : '';
  const p = adjustedP === null ? '' : formatP(adjustedP).replace(/^p (= )?/, '');
  const bare = `${labelled(info.label)}${GAP}${signed(difference).padStart(8)}${GAP}${range.padEnd(17)}${GAP}${p.padEnd(9)}${GAP}${conclusion}`;
  // Where there is no room for it, the effect is left to the page.
  const line = displayWidth(bare + strength) <= width ? bare + strength : bare;
  return terminal.text(cutToWidth(line, width).trimEnd(), styleOf(comparison) ?? undefined);
}

export function casesLine(label: string, ids: readonly string[], width: number): string[] {
  if (ids.length === 0) return [];
  const more = ids.length > MOST_IDS ? `, and ${ids.length - MOST_IDS} more` : '';
  return [oneLine(`${label} ${ids.slice(0, MOST_IDS).join(', ')}${more}`, width - 2).replace(/^/, '  ')];
}

export function styleOf(comparison: MetricComparison | undefined): 'green' | 'red' | null {
  if (comparison?.conclusion === 'better') return 'green';
  return comparison?.conclusion === 'worse' ? 'red' : null;
}

/** A label set in, as wide as all of them. */
export function labelled(label: string): string {
  return `  ${column(label, LABEL_WIDTH - 2)}`;
}

/** A name, cut and filled to the columns it has. */
export function column(name: string, width: number, side: 'left' | 'right' = 'left'): string {
  const shown = cutToWidth(oneLine(name, width), width);
  return side === 'left'
    ? padToWidth(shown, width)
    : shown.padStart(width + shown.length - displayWidth(shown));
}
