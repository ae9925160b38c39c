import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AppError, messageOf } from '../../domain/app-error.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { createTerminal } from '../terminal.ts';
import type { EvaluationFlags } from './evaluation-flags.ts';
import { renderEvaluation } from './render-evaluation.ts';

/** Writes what was asked for, and the verdict with its tables to stdout unless the data goes there. */
export async function writeOutputs(
  report: ReportData,
  { json, html, junit }: Pick<EvaluationFlags, 'json' | 'html' | 'junit'>,
): Promise<void> {
  const toStdout = json === '';
  const written: string[] = [];
  const write = async (path: string, content: string) => {
    await writeNamedFile(path, content);
    written.push(path);
  };
  if (json !== undefined && !toStdout) await write(json, `${JSON.stringify(report)}\n`);
  if (html !== undefined) {
    const { renderReport } = await import('../../evaluation/report/render-report.ts');
    await write(html, renderReport(report));
  }
  if (junit !== undefined) {
    const { renderJunit } = await import('../../evaluation/report/junit.ts');
    await write(junit, renderJunit(report));
  }
  if (toStdout) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const terminal = createTerminal(process.stdout);
  terminal.write(renderEvaluation(report, terminal));
  for (const path of written) terminal.write(terminal.text(`Written: ${path}\n`, 'dim'));
}

/** Writes a file that a flag names, making its folder. Throws `invalid_input`. */
export async function writeNamedFile(path: string, content: string): Promise<void> {
  try {
    await mkdir(dirname(resolve(path)), { recursive: true });
    await writeFile(path, content);
  } catch (error) {
    throw new AppError('invalid_input', `${path} cannot be written.`, {
      hint: messageOf(error),
      cause: error,
    });
  }
}
