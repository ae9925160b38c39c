import type { App } from '../../app/create-app.ts';
import { configuredRedactor } from '../../app/run-settings.ts';
import { diffRuns, type RunDiff } from '../../evaluation/report/diff-runs.ts';
import { parseGate, readBaseline, refuseFailedGates } from '../../evaluation/report/gates.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { Run } from '../../tape/tape-run.ts';
import { type Outputs, readJsonFile, writeOutputs } from './evaluation-files.ts';
import { keepRun } from './run-archive.ts';

/** Keeps a finished evaluation, writes what was asked for, and throws `gate_failed` if it does not pass. */
export async function finishEvaluation(
  found: ReportData,
  { config }: App,
  { tape }: Run,
  { gate = [], ...outputs }: Outputs & { gate?: string[] | undefined },
): Promise<void> {
  const report = configuredRedactor(config).value(found);
  // What is played from a tape is no new run.
  const kept = tape?.replaying ? null : await keepRun(config.home, report);
  await writeOutputs(report, outputs, { kept, diff: await sinceBaseline(report, gate) });
  refuseFailedGates(report.gates);
}

/** What changed since the baseline that a gate names; null where none does. */
async function sinceBaseline(report: ReportData, gates: readonly string[]): Promise<RunDiff | null> {
  const gate = gates.map(parseGate).find(({ kind }) => kind === 'baseline');
  if (gate?.kind !== 'baseline') return null;
  const baseline = readBaseline(await readJsonFile(gate.file, 'The baseline'), gate.file);
  return diffRuns({ name: gate.file, report: baseline }, { name: 'this run', report });
}
