import { loadConfig } from '../../config/load-config.ts';
import { formatMetricValue, toKnownValue } from '../../evaluation/report/format-metric.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { HEADLINE_METRIC } from '../../evaluation/statistics/compare-columns.ts';
import { formatTable } from '../terminal/format-table.ts';
import { formatDuration } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrap-text.ts';
import type { JsonCommandFlags } from './evaluation-files.ts';
import { listArchivedRuns, readArchivedRun } from './run-archive.ts';

export interface EvalRunsFlags extends JsonCommandFlags {
  limit?: number | undefined;
}

const DEFAULT_LIMIT = 20;

/** Lists the archived evaluations, newest first. */
export async function runEvalRuns({
  limit = DEFAULT_LIMIT,
  json,
  config,
  ...flags
}: EvalRunsFlags): Promise<void> {
  const { home } = loadConfig({ flags, configPath: config });
  const names = (await listArchivedRuns(home)).reverse().slice(0, Math.max(1, limit));
  const terminal = createTerminal(process.stdout);
  const runs: { name: string; report: ReportData | null }[] = [];
  for (const name of names) runs.push({ name, report: await readArchivedRun(home, name) });
  if (json !== undefined) {
    terminal.write(
      `${JSON.stringify(runs.map(({ name, report }) => ({ name, ...summarizeRun(report) })))}\n`,
    );
  } else if (runs.length === 0) {
    renderText(terminal, 'No runs saved. Run one with: citeloop eval <cases>');
  } else {
    const headings = ['run', 'case file', 'cases', 'time', 'tokens', 'cost', 'answered correctly'];
    terminal.write(
      formatTable(
        terminal,
        headings,
        runs.map(({ name, report }) => [name, ...toCells(report)]),
      ),
    );
  }
}

function toCells(report: ReportData | null): string[] {
  if (report === null) return ['cannot be read'];
  const { casesFile, cases, durationMs, totals, currency } = report.header;
  const correct = report.arms.map(({ name, metrics }) => {
    const value = toKnownValue(metrics[HEADLINE_METRIC]);
    return `${name} ${value === null ? 'not graded' : formatMetricValue(value.value, 'share')}`;
  });
  return [
    casesFile,
    String(cases),
    formatDuration(durationMs / 1000),
    String(totals.tokens),
    totals.money === null ? '' : `${formatMetricValue(totals.money, 'money')} ${currency ?? ''}`,
    correct.join(', '),
  ];
}

function summarizeRun(report: ReportData | null) {
  if (report === null) return { readable: false };
  const { header, kind, decision, verdict } = report;
  const arms = report.arms.map(({ name, settings, metrics }) => ({
    name,
    settings,
    correct: toKnownValue(metrics[HEADLINE_METRIC])?.value ?? null,
  }));
  return { readable: true, kind, header, decision, verdict, arms };
}
