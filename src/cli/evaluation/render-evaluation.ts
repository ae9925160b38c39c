import { whatIsWrong } from '../../evaluation/metrics/answer-metrics.ts';
import type { MetricComparison } from '../../evaluation/report/comparison.ts';
import { formatPercent, formatValue } from '../../evaluation/report/format-value.ts';
import { gateLines } from '../../evaluation/report/gate-lines.ts';
import type { MetricInfo, MetricValue } from '../../evaluation/report/metric-value.ts';
import type { Arm, ReportData } from '../../evaluation/report/report-data.ts';
import { HEADLINE } from '../../evaluation/statistics/compare-columns.ts';
import { counted, quoted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { duration } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrap } from '../terminal/wrapping.ts';
import {
  casesLine,
  column,
  comparisonTables,
  GAP,
  LABEL_WIDTH,
  labelled,
  styleOf,
} from './render-comparison.ts';

const NARROWEST = 40;
/** Of how many wrong cases it is said what is wrong; data and page have the rest. */
const MOST_REASONS = 5;
const VALUE_WIDTH = 9;
const WITH_INTERVAL = 24;
const COUNT_WIDTH = 5;

/** A report for people at a terminal: the verdict on top, then the tables, in as many columns as there are. */
export function renderEvaluation(data: ReportData, terminal: Terminal): string {
  const width = Math.max(NARROWEST, terminal.width);
  const [first = '', ...others] = data.verdict;
  const paragraph = (text: string, style?: Parameters<Terminal['text']>[1]) =>
    wrap(text, width).map((line) => terminal.text(line, style));
  const blocks = [
    [...paragraph(first, 'bold'), ...others.flatMap((sentence) => paragraph(sentence))],
    data.notes.flatMap((note) => paragraph(note, 'yellow')),
    ...armTables(data, terminal, width),
    ...comparisonTables(data, terminal, width),
    ...searchTables(data, terminal),
    ...tagTables(data, terminal, width),
    data.arms.flatMap((arm) => flakyLines(arm, width)).map((line) => terminal.text(line)),
    wrongLines(data, width).map((line) => terminal.text(line)),
    gateLines(data.gates).map(({ passed, arm, line }) =>
      passed ? terminal.text(`✓ ${arm}: ${line}`, 'green') : terminal.text(`✗ ${arm}: ${line}`, 'red'),
    ),
    missingData(data).flatMap((sentence) => paragraph(sentence, 'dim')),
    paragraph(footer(data), 'dim'),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}

/** The cases that came out otherwise when asked again. */
function flakyLines({ name, flaky }: Arm, width: number): string[] {
  if (flaky.length === 0) return [];
  const listed = flaky.map(({ id, right, runs }) => `${id} (${right} of ${runs})`);
  return casesLine(`${quoted(name)} is flaky on`, listed, width);
}

/** The cases that a single arm did not answer as they expect, the first with what is wrong: what to look at next. */
function wrongLines({ arms, cases }: ReportData, width: number): string[] {
  const [arm, ...others] = arms;
  if (arm === undefined || others.length > 0) return [];
  const wrong = cases.filter(({ results }) => (results[arm.name]?.metrics[HEADLINE] ?? 1) < 1);
  const reasons = wrong.slice(0, MOST_REASONS).flatMap((item) => {
    const runs = item.results[arm.name]?.runs ?? [];
    const [reason] = runs.flatMap((run) => whatIsWrong(run, item) ?? []);
    return reason === undefined ? [] : [`    ${oneLine(`${item.id}: ${reason}`, width - 4)}`];
  });
  const ids = wrong.map(({ id }) => id);
  return [...casesLine(`${quoted(arm.name)} is wrong on`, ids, width), ...reasons];
}

function footer({ header, arms }: ReportData): string {
  const { collection, totals, currency } = header;
  const money = (amount: number | null) =>
    amount === null ? '' : ` for ${formatValue(amount, 'money')} ${currency ?? ''}`.trimEnd();
  const isGrouped = header.conversations < header.cases;
  const threshold = arms[0]?.settings.scoreThreshold ?? 0;
  return [
    `${counted(header.cases, 'case')}${isGrouped ? ` of ${counted(header.conversations, 'conversation')}` : ''}, ${counted(totals.turns, 'turn')}, ${header.concurrency} at a time, in ${duration(header.durationMs / 1000)}`,
    ...(totals.reused > 0
      ? [`${counted(totals.reused, 'answer')} reused from a run that was interrupted`]
      : []),
    `${totals.tokens} tokens${money(totals.money)}`,
    ...(totals.judge === null ? [] : [`the judge ${totals.judge.tokens} tokens${money(totals.judge.money)}`]),
    `${header.models.join(', ')} on ${collection.name} (${counted(collection.documents, 'document')}, ${counted(collection.chunks, 'chunk')})`,
    `intervals of ${formatPercent(0.95)}, seed ${header.seed}`,
    `threshold ${threshold}`,
  ].join('; ');
}

/** Every metric with data, a column an arm; as many tables as the width asks for, each with the first arm. */
function armTables(data: ReportData, terminal: Terminal, width: number): string[][] {
  const [first, ...others] = data.arms as [Arm, ...Arm[]];
  const wide = LABEL_WIDTH + (others.length + 1) * (WITH_INTERVAL + GAP.length) <= width;
  const cellWidth = wide
    ? WITH_INTERVAL
    : Math.max(VALUE_WIDTH + 2, ...data.arms.map(({ name }) => Math.min(name.length, 14)));
  const fitting = Math.max(1, Math.floor((width - LABEL_WIDTH) / (cellWidth + GAP.length)) - 1);
  const chunks: Arm[][] = others.length === 0 ? [[]] : [];
  for (let at = 0; at < others.length; at += fitting) chunks.push(others.slice(at, at + fitting));
  return chunks.map((chunk) => armTable([first, ...chunk], { data, terminal, cellWidth, wide }));
}

interface Layout {
  data: ReportData;
  terminal: Terminal;
  cellWidth: number;
  wide: boolean;
}

function armTable(arms: readonly Arm[], { data, terminal, cellWidth, wide }: Layout): string[] {
  const headings = arms.map(({ name }) => column(name, cellWidth));
  const lines = [terminal.text(`${''.padEnd(LABEL_WIDTH)}${GAP}${headings.join(GAP)}`.trimEnd(), 'bold')];
  let group: MetricInfo['group'] | null = null;
  for (const metric of data.metrics) {
    if (!arms.some((arm) => arm.metrics[metric.id]?.status === 'value')) continue;
    if (metric.group !== group) lines.push(terminal.text(metric.group, 'dim'));
    group = metric.group;
    const cells = arms.map((arm) => armCell(arm, metric, { data, terminal, cellWidth, wide }));
    lines.push(`${labelled(metric.label)}${GAP}${cells.join(GAP)}`.trimEnd());
  }
  return lines;
}

function armCell(arm: Arm, metric: MetricInfo, { data, terminal, cellWidth, wide }: Layout): string {
  const found = arm.metrics[metric.id];
  if (found?.status !== 'value') return terminal.text('no data'.padEnd(cellWidth), 'dim');
  const comparison = data.comparisons
    .find((one) => one.arm === arm.name)
    ?.metrics.find((one) => one.metric === metric.id);
  const value = `${formatValue(found.value, metric.unit).padStart(VALUE_WIDTH - 2)} ${markOf(comparison)}`;
  const text = wide ? `${value} ${rangeOf(found, metric)}` : value;
  const style = styleOf(comparison);
  return style === null ? text.padEnd(cellWidth) : terminal.text(text.padEnd(cellWidth), style);
}

function rangeOf({ interval, n }: Extract<MetricValue, { status: 'value' }>, { unit }: MetricInfo): string {
  if (interval === null) return `n ${n}`;
  const [low, high] = interval.map((bound) => formatValue(bound, unit).replace(/ ms$/, ''));
  return `${low}–${high}`;
}

/** Colour says it too, but not everybody sees it. */
function markOf(comparison: MetricComparison | undefined): string {
  const style = styleOf(comparison);
  return style === null ? ' ' : style === 'green' ? '▲' : '▼';
}

/** What searching was worth in the turns of each arm, and what it added to them. */
function searchTables({ searchWorth, header }: ReportData, terminal: Terminal): string[][] {
  if (searchWorth.length === 0) return [];
  const isPriced = searchWorth.some(({ kinds }) => kinds.some(({ money }) => money !== null));
  const known = (value: number | null, unit: MetricInfo['unit']) =>
    value === null ? '' : `${value < 0 ? '-' : '+'}${formatValue(Math.abs(value), unit)}`;
  const rows = searchWorth.flatMap(({ arm, kinds, unknown }) => [
    ...kinds.map(({ kind, turns, tokens, money, ms }) => [
      oneLine(arm, LABEL_WIDTH),
      kind,
      String(turns),
      known(tokens, 'tokens'),
      ...(isPriced ? [known(money, 'money')] : []),
      known(ms, 'ms'),
    ]),
    ...(unknown > 0 ? [[oneLine(arm, LABEL_WIDTH), 'not known', String(unknown)]] : []),
  ]);
  const price = isPriced ? [header.currency ?? 'money'] : [];
  const heading = ['Searching was, in', '', 'turns', 'tokens', ...price, 'time added'];
  const sentences = searchWorth.flatMap(({ verdict }) => verdict);
  return [
    [table(terminal, heading, rows).trimEnd()],
    sentences.flatMap((sentence) => wrap(sentence, terminal.width).map((line) => terminal.text(line, 'dim'))),
  ];
}

/** How many questions of each tag were answered correctly. */
function tagTables(data: ReportData, terminal: Terminal, width: number): string[][] {
  const tags = Object.keys(data.arms[0]?.tags ?? {}).filter((tag) =>
    data.arms.some((arm) => arm.tags[tag]?.metrics['answer.correct'] != null),
  );
  if (tags.length < 2) return [];
  const cellWidth = Math.max(
    7,
    Math.min(14, Math.floor((width - LABEL_WIDTH - COUNT_WIDTH) / data.arms.length) - GAP.length),
  );
  const shown = data.arms.slice(
    0,
    Math.floor((width - LABEL_WIDTH - COUNT_WIDTH) / (cellWidth + GAP.length)),
  );
  const headings = shown.map(({ name }) => column(name, cellWidth, 'right'));
  const rows = tags.map((tag) => {
    const cells = shown.map((arm) => {
      const value = arm.tags[tag]?.metrics['answer.correct'];
      return (value == null ? '' : formatValue(value, 'share')).padStart(cellWidth);
    });
    const n = String(data.arms[0]?.tags[tag]?.n ?? 0);
    return terminal.text(`${labelled(tag)}${n.padStart(COUNT_WIDTH)}${GAP}${cells.join(GAP)}`);
  });
  const heading = `${'Answered correctly by tag'.padEnd(LABEL_WIDTH)}${'n'.padStart(COUNT_WIDTH)}${GAP}${headings.join(GAP)}`;
  return [[terminal.text(heading, 'bold'), ...rows]];
}

/** What could not be measured in any arm, and why, each reason once. */
function missingData({ arms, metrics }: ReportData): string[] {
  const byReason = new Map<string, string[]>();
  for (const { id, label } of metrics) {
    const values = arms.map((arm) => arm.metrics[id]);
    const [first] = values;
    if (first?.status !== 'no data' || values.some((value) => value?.status === 'value')) continue;
    byReason.set(first.reason, [...(byReason.get(first.reason) ?? []), label]);
  }
  if (byReason.size === 0) return [];
  return [
    `No data: ${Array.from(byReason, ([reason, labels]) => `${labels.join(', ')} (${reason})`).join('; ')}.`,
  ];
}
