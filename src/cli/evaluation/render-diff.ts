import { allMetrics } from '../../evaluation/metrics/all-metrics.ts';
import type { Flip, RunDiff } from '../../evaluation/report/diff-runs.ts';
import { formatP, formatValue } from '../../evaluation/report/format-value.ts';
import { sentenceOnDiff, sentenceOnSettings } from '../../evaluation/report/verdict-on-diff.ts';
import { counted, quoted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrap } from '../terminal/wrapping.ts';

const MOST_FLIPS = 20;
/** The whole of it is in what --json writes. */
const LONGEST_TEXT = 400;

/** What changed between two runs, for a terminal: the sentence, the metrics that moved, and each case that flipped. */
export function renderDiff(diff: RunDiff, terminal: Terminal): string {
  const paragraph = (text: string, style?: Parameters<Terminal['text']>[1]) =>
    wrap(text, terminal.width).map((line) => terminal.text(line, style));
  const { before, after, shared, gone, added, reworded } = diff;
  const left = diff.flipped.length - MOST_FLIPS;
  const blocks = [
    [...paragraph(sentenceOnDiff(diff), 'bold'), ...paragraph(sentenceOnSettings(diff))],
    metricsTable(diff, terminal),
    diff.flipped.slice(0, MOST_FLIPS).flatMap((flip) => flipLines(flip, terminal)),
    left > 0 ? [terminal.text(`and ${left} more; --json has all of them`, 'dim')] : [],
    paragraph(
      [
        `${before.run} (${quoted(before.arm)}, ${before.date.slice(0, 16)}) against ${after.run} (${quoted(after.arm)}, ${after.date.slice(0, 16)})`,
        `${counted(shared, 'case')} in both${reworded > 0 ? `, ${reworded} of them answered in other words` : ''}`,
        ...(gone.length > 0 ? [`${gone.length} only before`] : []),
        ...(added.length > 0 ? [`${added.length} only now`] : []),
      ].join('; '),
      'dim',
    ),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}

function metricsTable({ metrics }: RunDiff, terminal: Terminal): string[] {
  const moved = metrics.filter(({ difference }) => Math.abs(difference) > 1e-9);
  if (moved.length === 0) return [];
  const rows = moved.flatMap(({ metric, difference, adjustedP, conclusion, better, worse }) => {
    const info = allMetrics.find(({ id }) => id === metric);
    if (info === undefined) return [];
    const sign = difference > 0 ? '+' : '-';
    return [
      [
        info.label,
        `${sign}${formatValue(Math.abs(difference), info.unit)}`,
        adjustedP === null ? '' : formatP(adjustedP).replace(/^p (= )?/, ''),
        conclusion,
        better.length + worse.length === 0 ? '' : `${better.length} / ${worse.length}`,
      ],
    ];
  });
  return [table(terminal, ['', 'change', 'p (Holm)', 'conclusion', 'better / worse'], rows).trimEnd()];
}

function flipLines({ id, question, before, after }: Flip, terminal: Terminal): string[] {
  const isWorse = before.state === 'right';
  const head = `${isWorse ? '✗' : '✓'} ${id}: ${before.state} → ${after.state}`;
  const told = (label: string, text: string) =>
    wrap(oneLine(text, LONGEST_TEXT), Math.max(30, terminal.width - label.length)).map(
      (line, index) => `${index === 0 ? label : ' '.repeat(label.length)}${line}`,
    );
  return [
    terminal.text(head, isWorse ? 'red' : 'green'),
    ...told('    ', question).map((line) => terminal.text(line)),
    ...[...told('    before: ', before.answer), ...told('    now:    ', after.answer)].map((line) =>
      terminal.text(line, 'dim'),
    ),
  ];
}
