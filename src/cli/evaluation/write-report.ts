import type { App } from '../../app/create-app.ts';
import { createConfiguredRedactor } from '../../app/run-settings.ts';
import { diffRuns, type RunDiff } from '../../evaluation/report/diff-runs.ts';
import { assertGatesPassed, parseGate, readBaselines } from '../../evaluation/report/gates.ts';
import {
  findUnrecordedCases,
  renderPullRequestComment,
} from '../../evaluation/report/pull-request-comment.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { reportDirectory } from '../../package.ts';
import { formatCount } from '../../text/format-count.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { writeOutputFile } from './evaluation-files.ts';
import type { EvaluationFlags } from './evaluation-inputs.ts';
import { renderEvaluation } from './render-evaluation.ts';

const MAX_LISTED_CASES = 10;

/** Output files; an empty path of the JSON is stdout. */
type ReportOutputs = Pick<EvaluationFlags, 'json' | 'html' | 'markdown' | 'reportUrl' | 'gate'>;

/** Writes the outputs of a finished evaluation and prints it. Throws `gate_failed` if a gate failed. */
export async function writeReport(
  result: ReportData,
  { config }: App,
  outputs: ReportOutputs,
): Promise<void> {
  const report = createConfiguredRedactor(config).value(result);
  const unrecorded = findUnrecordedCases(report);
  if (unrecorded.length > 0) {
    // The numbers would count missing answers as wrong ones. The caller exits with the first miss.
    const { markdown } = outputs;
    if (markdown !== undefined)
      await writeOutputFile(markdown, renderPullRequestComment(report, { diff: null }));
    const shown = unrecorded.slice(0, MAX_LISTED_CASES).join(', ');
    const sentence = `${unrecorded.length} of ${formatCount(report.header.cases, 'case')} need a new recording: ${shown}${unrecorded.length > MAX_LISTED_CASES ? ', …' : ''}`;
    process.stderr.write(`${sentence}. Add --on-miss record to record only these.\n`);
    return;
  }
  const written = await writeFiles(report, outputs);
  const terminal = createTerminal(process.stdout);
  if (outputs.json === '') process.stdout.write(`${JSON.stringify(report)}\n`);
  else {
    terminal.write(renderEvaluation(report, terminal));
    for (const path of written) terminal.write(terminal.text(`Wrote ${path}\n`, 'dim'));
  }
  assertGatesPassed(report.gates);
}

async function writeFiles(report: ReportData, outputs: ReportOutputs): Promise<string[]> {
  const { json, html, markdown, reportUrl, gate = [] } = outputs;
  const files: [path: string, content: string][] = [];
  if (json) files.push([json, `${JSON.stringify(report)}\n`]);
  if (html !== undefined) {
    const { readReportAssets, renderHtmlReport } = await import(
      '../../evaluation/report/render-html-report.ts'
    );
    files.push([html, renderHtmlReport(report, await readReportAssets(reportDirectory()))]);
  }
  if (markdown !== undefined) {
    files.push([
      markdown,
      renderPullRequestComment(report, { diff: diffWithBaseline(report, gate), reportUrl }),
    ]);
  }
  for (const [path, content] of files) await writeOutputFile(path, content);
  return files.map(([path]) => path);
}

/** Changes since the baseline of the first `no-worse-than` gate; null without one. */
function diffWithBaseline(report: ReportData, gates: readonly string[]): RunDiff | null {
  const [baseline] = readBaselines(gates.map(parseGate), report.header);
  if (baseline === undefined) return null;
  return diffRuns({ name: baseline[0], report: baseline[1] }, { name: 'this run', report });
}
