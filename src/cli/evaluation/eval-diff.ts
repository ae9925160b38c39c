import { allMetrics } from '../../evaluation/metrics/all-metrics.ts';
import {
  diffRuns,
  type FlippedCase,
  formatFlips,
  formatSettingChanges,
  type RunDiff,
} from '../../evaluation/report/diff-runs.ts';
import { formatMetricDifference } from '../../evaluation/report/format-metric.ts';
import { parseReport } from '../../evaluation/report/report-data.ts';
import { readJsonFile } from '../../files/read-input-file.ts';
import { formatCount, quoteName } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { formatTable } from '../terminal/format-table.ts';
import { createTerminal, type Terminal, type TextStyle } from '../terminal/terminal.ts';
import { wrapLine } from '../terminal/wrap-text.ts';
import type { JsonCommandFlags } from './evaluation-files.ts';
import { formatTestCells, joinBlocks } from './render-evaluation.ts';

const MAX_SHOWN_FLIPS = 20;
const MAX_TEXT_LENGTH = 400;

export interface EvalDiffFlags extends JsonCommandFlags {
  before?: string | undefined;
  after?: string | undefined;
  /** The arm of both runs, or of each. */
  arm?: string[] | undefined;
}

export async function runEvalDiff(flags: EvalDiffFlags): Promise<void> {
  const { before = '', after = '', arm = [], json } = flags;
  const [earlier, later] = [readReport(before), readReport(after)];
  const diff = diffRuns({ ...earlier, arm: arm[0] }, { ...later, arm: arm[1] ?? arm[0] });
  const terminal = createTerminal(process.stdout);
  terminal.write(json !== undefined ? `${JSON.stringify(diff)}\n` : renderDiff(diff, terminal));
}

function readReport(path: string) {
  return { name: path, report: parseReport(readJsonFile(path, 'Report'), path) };
}

function renderDiff(diff: RunDiff, terminal: Terminal): string {
  const paragraph = (text: string, style?: TextStyle) =>
    wrapLine(text, terminal.width).map((line) => terminal.text(line, style));
  const { before, after, shared, gone, added, reworded } = diff;
  const more = diff.flipped.length - MAX_SHOWN_FLIPS;
  const footer = [
    ...[before, after].map(({ run, arm, date }) => `${run} (${quoteName(arm)}, ${date.slice(0, 16)})`),
    `${formatCount(shared, 'case')} in both${reworded > 0 ? `, ${reworded} with another wording` : ''}`,
    ...(gone.length > 0 ? [`${gone.length} removed`] : []),
    ...(added.length > 0 ? [`${added.length} added`] : []),
  ];
  return joinBlocks([
    [...paragraph(formatFlips(diff), 'bold'), ...paragraph(formatSettingChanges(diff))],
    renderMetrics(diff, terminal),
    diff.flipped.slice(0, MAX_SHOWN_FLIPS).flatMap((flip) => renderFlip(flip, terminal)),
    more > 0 ? [terminal.text(`${more} more in --json`, 'dim')] : [],
    paragraph(footer.join('; '), 'dim'),
  ]);
}

function renderMetrics({ metrics }: RunDiff, terminal: Terminal): string[] {
  const rows = metrics.flatMap((compared) => {
    const { metric, difference, better, worse } = compared;
    const info = allMetrics.find(({ id }) => id === metric);
    if (info === undefined || Math.abs(difference) <= 1e-9) return [];
    const flips = better.length + worse.length === 0 ? '' : `${better.length} / ${worse.length}`;
    return [[info.label, formatMetricDifference(difference, info.unit), ...formatTestCells(compared), flips]];
  });
  const headings = ['metric', 'difference', 'p', 'conclusion', 'better / worse'];
  return rows.length === 0 ? [] : [formatTable(terminal, headings, rows).trimEnd()];
}

function renderFlip({ id, question, before, after }: FlippedCase, terminal: Terminal): string[] {
  const isWorse = before.state === 'right';
  const change = `${isWorse ? '✗' : '✓'} ${id}: ${before.state} → ${after.state}`;
  const details = [question, `before: ${before.answer}`, `after: ${after.answer}`];
  return [
    terminal.text(change, isWorse ? 'red' : 'green'),
    ...details
      .flatMap((text) => wrapLine(oneLine(text, MAX_TEXT_LENGTH), Math.max(30, terminal.width - 4)))
      .map((line) => terminal.text(`    ${line}`, 'dim')),
  ];
}
