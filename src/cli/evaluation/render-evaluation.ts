import { gradeAnswer } from '../../evaluation/metrics/answer-metrics.ts';
import {
  formatConclusion,
  formatInterval,
  formatMetricDifference,
  formatMetricValue,
  formatPValue,
  HEADLINE_METRIC,
  hasNoDifference,
  type KnownMetricValue,
  toKnownValue,
} from '../../evaluation/report/format-metric.ts';
import type {
  ArmComparison,
  MetricComparison,
  MetricInfo,
  ReportArm,
  ReportData,
} from '../../evaluation/report/report-data.ts';
import { formatCount, quoteName } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { formatTable } from '../terminal/format-table.ts';
import { formatDuration } from '../terminal/progress.ts';
import type { Terminal, TextStyle } from '../terminal/terminal.ts';
import { wrapLine } from '../terminal/wrap-text.ts';

const MIN_WIDTH = 40;
const LABEL_WIDTH = 24;
/** The width of a value with its mark and interval. */
const INTERVAL_CELL_WIDTH = 26;
const MAX_LISTED_CASES = 8;
const MAX_LISTED_PAIRS = 15;
/** Incorrect cases whose reason is printed. */
const MAX_REASONS = 5;

/** A report for the terminal: verdict, metrics, pairs, flaky and incorrect cases, gates. */
export function renderEvaluation(report: ReportData, terminal: Terminal): string {
  const width = Math.max(MIN_WIDTH, terminal.width);
  const paragraph = (text: string, style?: TextStyle) =>
    wrapLine(text, width).map((line) => terminal.text(line, style));
  const [first = '', ...others] = report.verdict;
  const blocks = [
    report.notes.flatMap((note) => paragraph(note, 'yellow')),
    [...paragraph(first, 'bold'), ...others.flatMap((sentence) => paragraph(sentence))],
    renderArms(report, terminal, width),
    ...report.comparisons
      .slice(0, 1)
      .map((comparison) => [
        terminal.text(`${quoteName(comparison.arm)} compared with ${quoteName(comparison.baseline)}`, 'bold'),
        ...renderComparison(comparison, report, terminal),
        ...listOnlyRight(comparison).flatMap((line) => paragraph(line)),
      ]),
    report.comparisons.slice(1, MAX_LISTED_PAIRS).flatMap(({ verdict }) => paragraph(verdict)),
    [...listFlaky(report), ...listIncorrect(report)].flatMap((line) => paragraph(oneLine(line, 400))),
    report.gates.map(({ passed, arm, line }) =>
      terminal.text(`${passed ? '✓' : '✗'} ${arm}: ${line}`, passed ? 'green' : 'red'),
    ),
    listNoData(report).flatMap((sentence) => paragraph(sentence, 'dim')),
    paragraph(formatFooter(report), 'dim'),
  ];
  return joinBlocks(blocks);
}

/** Blocks of lines with a blank line between them; empty ones are left out. */
export function joinBlocks(blocks: readonly (readonly string[])[]): string {
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** The metrics with data, the primary ones first, with intervals and marks for proven differences from the first arm. */
function renderArms({ arms, metrics, comparisons }: ReportData, terminal: Terminal, width: number): string[] {
  const showInterval = LABEL_WIDTH + arms.length * INTERVAL_CELL_WIDTH <= width;
  const rows = metrics
    .filter(({ id }) => arms.some((arm) => toKnownValue(arm.metrics[id]) !== null))
    .toSorted((a, b) => Number(b.primary) - Number(a.primary))
    .map((metric) => [
      metric.label,
      ...arms.map((arm) => {
        const value = toKnownValue(arm.metrics[metric.id]);
        const compared = comparisons
          .find((one) => one.arm === arm.name && one.baseline === arms[0]?.name)
          ?.metrics.find((one) => one.metric === metric.id);
        return value === null ? 'no data' : formatCell(value, metric, compared, showInterval);
      }),
    ]);
  return [formatTable(terminal, ['', ...arms.map(({ name }) => name)], rows).trimEnd()];
}

function formatCell(
  { value, interval, n }: KnownMetricValue,
  { unit }: MetricInfo,
  compared: MetricComparison | undefined,
  showInterval: boolean,
): string {
  const mark = { better: ' ▲', worse: ' ▼' }[compared?.conclusion as string] ?? '';
  const bounds = interval?.map((bound) => formatMetricValue(bound, unit).replace(/ ms$/, '')).join(' to ');
  const range = bounds === undefined ? ` (n ${n})` : ` (${bounds})`;
  return `${formatMetricValue(value, unit)}${mark}${showInterval ? range : ''}`;
}

function renderComparison({ metrics }: ArmComparison, report: ReportData, terminal: Terminal): string[] {
  const changed = metrics.filter((compared) => !hasNoDifference(compared));
  const rows = changed.map((compared) => {
    const { label, unit } = report.metrics.find(({ id }) => id === compared.metric) as MetricInfo;
    const interval = compared.interval && formatInterval(compared.interval, unit, formatMetricDifference);
    return [
      label,
      formatMetricDifference(compared.difference, unit),
      interval ?? '',
      ...formatTestCells(compared),
    ];
  });
  const headings = ['metric', 'difference', 'interval', 'p', 'conclusion'];
  return rows.length > 0 ? [formatTable(terminal, headings, rows).trimEnd()] : [];
}

function listOnlyRight({ arm, baseline, metrics }: ArmComparison): string[] {
  const headline = metrics.find(({ metric }) => metric === HEADLINE_METRIC);
  return [
    ...listCases(`Only ${quoteName(arm)} right:`, headline?.better ?? []),
    ...listCases(`Only ${quoteName(baseline)} right:`, headline?.worse ?? []),
  ];
}

/** The p value and the conclusion. */
export function formatTestCells({ adjustedP, conclusion }: MetricComparison): string[] {
  const p = adjustedP === null ? '' : formatPValue(adjustedP).replace(/^p (= )?/, '');
  return [p, formatConclusion(conclusion)];
}

function listCases(label: string, ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  const more = ids.length > MAX_LISTED_CASES ? `, and ${ids.length - MAX_LISTED_CASES} more` : '';
  return [`${label} ${ids.slice(0, MAX_LISTED_CASES).join(', ')}${more}`];
}

function listFlaky({ arms }: ReportData): string[] {
  return arms.flatMap(({ name, flaky }) =>
    listCases(
      `${quoteName(name)} is flaky on`,
      flaky.map(({ id, right, runs }) => `${id} (${right} of ${runs})`),
    ),
  );
}

/** The incorrect cases of an evaluation of one arm, the first ones with their reason. */
function listIncorrect({ arms, cases }: ReportData): string[] {
  const [arm, ...others] = arms as [ReportArm, ...ReportArm[]];
  if (others.length > 0) return [];
  const incorrect = cases.filter(({ results }) => (results[arm.name]?.metrics[HEADLINE_METRIC] ?? 1) < 1);
  const reasons = incorrect.slice(0, MAX_REASONS).flatMap((item) => {
    const runs = item.results[arm.name]?.runs ?? [];
    const [reason] = runs.flatMap((run) => gradeAnswer(run, item).reason || []);
    return reason === undefined ? [] : [`- ${item.id}: ${reason}`];
  });
  const ids = incorrect.map(({ id }) => id);
  return [...listCases(`${quoteName(arm.name)} is wrong on`, ids), ...reasons];
}

/** The metrics without data in any arm, by reason. */
function listNoData({ arms, metrics }: ReportData): string[] {
  const missing = metrics.flatMap(({ id, label }) => {
    const values = arms.map((arm) => arm.metrics[id]);
    const [first] = values;
    return first?.status !== 'no data' || values.some(toKnownValue) ? [] : [{ label, reason: first.reason }];
  });
  if (missing.length === 0) return [];
  const byReason = Array.from(
    Map.groupBy(missing, ({ reason }) => reason),
    ([reason, list]) => `- ${list.map(({ label }) => label).join(', ')}: ${reason}`,
  );
  return ['No data:', ...byReason];
}

function formatFooter({ header, arms }: ReportData): string {
  const { cases, conversations, collection, totals, currency } = header;
  const cost = (tokens: number, money: number | null) =>
    `${tokens} tokens${money === null ? '' : ` for ${formatMetricValue(money, 'money')} ${currency ?? ''}`.trimEnd()}`;
  const grouped = conversations < cases ? ` in ${formatCount(conversations, 'conversation')}` : '';
  return [
    `${formatCount(cases, 'case')}${grouped}, ${formatCount(totals.turns, 'turn')}, ${header.concurrency} at a time, in ${formatDuration(header.durationMs / 1000)}`,
    ...(totals.reused > 0 ? [`${formatCount(totals.reused, 'answer')} reused from an interrupted run`] : []),
    cost(totals.tokens, totals.money),
    ...(totals.grading === null ? [] : [`grading: ${cost(totals.grading.tokens, totals.grading.money)}`]),
    `${header.models.join(', ')} on ${collection.name} (${formatCount(collection.documents, 'document')}, ${formatCount(collection.chunks, 'chunk')})`,
    `95% intervals and p corrected together, seed ${header.seed}`,
    `threshold ${arms[0]?.settings?.scoreThreshold ?? 0}`,
  ].join('; ');
}
