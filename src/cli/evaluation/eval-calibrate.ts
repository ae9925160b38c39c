import type { App } from '../../app/create-app.ts';
import { configuredRedactor } from '../../app/run-settings.ts';
import { readFlag, wholeNumber } from '../../config/read-value.ts';
import { calibrateJudges, type JudgeRulings } from '../../evaluation/calibration/calibrate-judges.ts';
import type { CalibrationData, Ruling } from '../../evaluation/calibration/calibration-data.ts';
import { type Label, readLabels } from '../../evaluation/calibration/label.ts';
import { reportDirectory, version } from '../../package.ts';
import { withApp } from '../commands/with-app.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { readNamedFile, writeNamedFile } from './evaluation-files.ts';
import { type OpenJudge, openJudges } from './open-judges.ts';
import { renderCalibration } from './render-calibration.ts';

export interface EvalCalibrateFlags extends Omit<CommonFlags, 'json'> {
  labels?: string | undefined;
  model?: string | undefined;
  baseUrl?: string | undefined;
  api?: string | undefined;
  judge?: number | undefined;
  seed?: number | undefined;
  /** Where to write the data; empty is stdout. */
  json?: string | undefined;
  html?: string | undefined;
}

export async function runEvalCalibrate({ json, ...flags }: EvalCalibrateFlags): Promise<void> {
  const file = flags.labels ?? '';
  const times = readFlag('--judge', flags.judge, wholeNumber(1));
  const seed = readFlag('--seed', flags.seed, wholeNumber(0)) ?? 1;
  const labels = readLabels(await readNamedFile(file, 'The file of labels'), file);
  await withApp({ flags, whenInterrupted: 'Nothing was written.' }, async (app, { signal }) => {
    const started = app.runtime.elapsedMs();
    const judges = await ruleOnAll(await openJudges(app, times), labels, signal);
    const data = calibrateJudges(labels, judges, {
      file,
      seed,
      version,
      model: times === undefined ? null : app.config.agent.model,
      durationMs: app.runtime.elapsedMs() - started,
    });
    await writeCalibration(app, data, { json, html: flags.html });
  });
}

async function ruleOnAll(
  judges: readonly OpenJudge[],
  labels: readonly Label[],
  signal: AbortSignal,
): Promise<JudgeRulings[]> {
  const bar = createProgressBar('Judging');
  const all = judges.map(({ name, description }) => ({
    name,
    description,
    rulings: [] as (Ruling | null)[],
  }));
  try {
    for (const [done, label] of labels.entries()) {
      signal.throwIfAborted();
      for (const [at, judge] of judges.entries()) all[at]?.rulings.push(await judge.rule(label, signal));
      bar.update({ done: done + 1, total: labels.length });
    }
  } finally {
    bar.clear();
  }
  return all;
}

async function writeCalibration(
  app: App,
  found: CalibrationData,
  { json, html }: Pick<EvalCalibrateFlags, 'json' | 'html'>,
): Promise<void> {
  const data = configuredRedactor(app.config).value(found);
  const written: string[] = [];
  if (json) {
    await writeNamedFile(json, `${JSON.stringify(data)}\n`);
    written.push(json);
  }
  if (html !== undefined) {
    const { readReportAssets } = await import('../../evaluation/report/render-report.ts');
    const { calibrationPage } = await import('../../evaluation/calibration/calibration-page.ts');
    await writeNamedFile(html, calibrationPage(data, await readReportAssets(reportDirectory())));
    written.push(html);
  }
  if (json === '') {
    process.stdout.write(`${JSON.stringify(data)}\n`);
    return;
  }
  const terminal = createTerminal(process.stdout);
  terminal.write(renderCalibration(data, terminal));
  for (const path of written) terminal.write(terminal.text(`Written: ${path}\n`, 'dim'));
}
