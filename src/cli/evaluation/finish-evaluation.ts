import type { App } from '../../app/create-app.ts';
import { configuredRedactor } from '../../app/run-settings.ts';
import { refuseFailedGates } from '../../evaluation/report/gates.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { Run } from '../../tape/tape-run.ts';
import { type Outputs, writeOutputs } from './evaluation-files.ts';
import { keepRun } from './run-archive.ts';

/** Keeps a finished evaluation, writes what was asked for, and throws `gate_failed` if it does not pass. */
export async function finishEvaluation(
  found: ReportData,
  { config }: App,
  { tape }: Run,
  outputs: Outputs,
): Promise<void> {
  const report = configuredRedactor(config).value(found);
  // What is played from a tape is no new run.
  const kept = tape?.replaying ? null : await keepRun(config.home, report);
  await writeOutputs(report, outputs, kept);
  refuseFailedGates(report.gates);
}
