import type { CalibrationData, JudgeFigures } from '../../evaluation/calibration/calibration-data.ts';
import { formatEstimate, namedFigures } from '../../evaluation/calibration/findings.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { duration } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrap } from '../terminal/wrapping.ts';

const MOST_CASES = 10;
const LONGEST_CLAIM = 160;

/** What people need to know of judges, for a terminal: findings, figures, and where they part from the labels. */
export function renderCalibration(data: CalibrationData, terminal: Terminal): string {
  const { findings, judges, header } = data;
  const paragraph = (text: string, style?: Parameters<Terminal['text']>[1]) =>
    wrap(text, terminal.width).map((line) => terminal.text(line, style));
  const [first = '', ...others] = findings;
  const footer = `${counted(header.labels, 'label')} of ${header.file} (${Object.entries(header.byLabel)
    .map(([label, count]) => `${count} ${label}`)
    .join(
      ', ',
    )}) in ${duration(header.durationMs / 1000)}; only "supported" counts as such; intervals of 95 %, seed ${header.seed}`;
  const blocks = [
    [...paragraph(first, 'bold'), ...others.flatMap((sentence) => paragraph(sentence))],
    [figuresTable(judges, terminal)],
    ...judges.map((judge) => [countsTable(judge, terminal)]),
    sourcesTable(judges, terminal),
    reliabilityTable(judges, terminal),
    partings(data, terminal),
    paragraph(footer, 'dim'),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n').trimEnd())
    .join('\n\n')}\n`;
}

function figuresTable(judges: readonly JudgeFigures[], terminal: Terminal): string {
  const columns = judges.map(namedFigures);
  const rows = (columns[0] ?? []).map(([label], row) => [
    label,
    ...columns.map((figures) => formatEstimate(figures[row]?.[1] ?? null)),
  ]);
  return table(terminal, ['', ...judges.map(({ name }) => name)], rows);
}

/** What it said of what people said. */
function countsTable({ name, counts }: JudgeFigures, terminal: Terminal): string {
  const verdicts = Object.keys(Object.values(counts)[0] ?? {});
  return table(
    terminal,
    [`people / ${name}`, ...verdicts],
    Object.entries(counts).map(([label, row]) => [
      label,
      ...verdicts.map((verdict) => String(row[verdict] ?? 0)),
    ]),
  );
}

function sourcesTable(judges: readonly JudgeFigures[], terminal: Terminal): string[] {
  const rows = judges.flatMap(({ name, sources }) =>
    sources.map(({ source, n, agreement, kappa }) => [
      oneLine(source, 40),
      name,
      String(n),
      formatEstimate(agreement),
      formatEstimate(kappa),
    ]),
  );
  return rows.length === 0 ? [] : [table(terminal, ['source', 'judge', 'n', 'agreement', 'kappa'], rows)];
}

function reliabilityTable(judges: readonly JudgeFigures[], terminal: Terminal): string[] {
  const rows = judges.flatMap(({ name, reliability }) =>
    (reliability?.bins ?? []).map(({ n, said, came, interval }) => [
      name,
      said.toFixed(2),
      formatEstimate({ value: came, interval, n }),
      String(n),
    ]),
  );
  return rows.length === 0
    ? []
    : [table(terminal, ['judge', 'chance it gave', 'found supported', 'n'], rows)];
}

function partings({ cases }: CalibrationData, terminal: Terminal): string[] {
  const parting = cases.filter(({ partFrom }) => partFrom.length > 0);
  const lines = parting
    .slice(0, MOST_CASES)
    .flatMap(({ id, claim, label, rulings, partFrom }) => [
      terminal.text(
        `  ${oneLine(id, 60)}: people ${label}, ${partFrom.map((name) => `${name} ${rulings[name]?.verdict}`).join(', ')}`,
      ),
      ...wrap(oneLine(claim, LONGEST_CLAIM), terminal.width - 4).map((line) =>
        terminal.text(`    ${line}`, 'dim'),
      ),
    ]);
  if (lines.length === 0) return [];
  const left = parting.length - MOST_CASES;
  const title = `Where they part from people (${parting.length} of ${cases.length})`;
  const more =
    left > 0 ? [terminal.text(`  and ${left} more, all in what --json and --html write`, 'dim')] : [];
  return [terminal.text(title, 'bold'), ...lines, ...more];
}
