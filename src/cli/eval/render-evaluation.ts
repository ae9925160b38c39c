import { formatPercent } from '../../evaluation/report/format-value.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { duration } from '../progress-bar.ts';
import type { Terminal } from '../terminal.ts';
import { wrap } from '../wrap.ts';
import { armTables, comparisonTables, missingData, tagTables } from './evaluation-tables.ts';

const NARROWEST = 40;

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
    ...tagTables(data, terminal, width),
    gateLines(data, terminal),
    missingData(data).flatMap((sentence) => paragraph(sentence, 'dim')),
    paragraph(footer(data), 'dim'),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}

function gateLines({ gates }: ReportData, terminal: Terminal): string[] {
  return gates.map(({ passed, arm, line }) =>
    passed ? terminal.text(`✓ ${arm}: ${line}`, 'green') : terminal.text(`✗ ${arm}: ${line}`, 'red'),
  );
}

function footer({ header, arms }: ReportData): string {
  const turns = header.cases * header.repeat * arms.length;
  const { collection } = header;
  const threshold = arms[0]?.settings.scoreThreshold ?? 0;
  return [
    `${header.cases} cases, ${turns} turns, ${header.concurrency} at a time, in ${duration(header.durationMs / 1000)}`,
    `${header.models.join(', ')} on ${collection.name} (${collection.documents} documents, ${collection.chunks} chunks)`,
    `intervals of ${formatPercent(0.95)}, seed ${header.seed}`,
    `threshold ${threshold}`,
  ].join('; ');
}
