import { loadConfig } from '../../config/load-config.ts';
import { formatValue, knownValue } from '../../evaluation/report/format-value.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { duration } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { readRun, runNames } from './run-archive.ts';

export interface EvalRunsFlags extends Omit<CommonFlags, 'json'> {
  /** Given at all: as JSON. */
  json?: string | undefined;
  limit?: number | undefined;
}

const DEFAULT_LIMIT = 20;

/** Lists the evaluations that are kept, the newest first. */
export async function runEvalRuns({
  limit = DEFAULT_LIMIT,
  json,
  config,
  ...flags
}: EvalRunsFlags): Promise<void> {
  const { home } = loadConfig({ flags, configPath: config });
  const names = (await runNames(home)).reverse().slice(0, Math.max(1, limit));
  const terminal = createTerminal(process.stdout);
  const runs: { name: string; report: ReportData | null }[] = [];
  for (const name of names) runs.push({ name, report: await readRun(home, name) });
  if (json !== undefined) {
    terminal.write(`${JSON.stringify(runs.map(({ name, report }) => ({ name, ...summaryOf(report) })))}\n`);
    return;
  }
  if (runs.length === 0) {
    terminal.write(terminal.text('No evaluation is kept yet. Run one with: citeloop eval <cases>\n'));
    return;
  }
  const rows = runs.map(({ name, report }) => {
    if (report === null) return [name, 'cannot be read: another version kept it'];
    const { casesFile, cases, durationMs, totals, currency } = report.header;
    const correct = report.arms.map(({ name: arm, metrics }) => {
      const value = knownValue(metrics['answer.correct']);
      return `${arm} ${value === null ? 'not judged' : formatValue(value.value, 'share')}`;
    });
    const money = totals.money === null ? '' : `${formatValue(totals.money, 'money')} ${currency ?? ''}`;
    return [
      name,
      casesFile,
      String(cases),
      duration(durationMs / 1000),
      String(totals.tokens),
      money,
      correct.join(', '),
    ];
  });
  const headings = ['run', 'cases of', 'cases', 'time', 'tokens', 'money', 'answered correctly'];
  terminal.write(table(terminal, headings, rows));
}

function summaryOf(report: ReportData | null) {
  if (report === null) return { readable: false };
  const { header, kind, decision, verdict } = report;
  const arms = report.arms.map(({ name, settings, metrics }) => ({
    name,
    settings,
    correct: knownValue(metrics['answer.correct'])?.value ?? null,
  }));
  return { readable: true, kind, header, decision, verdict, arms };
}
