import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { RunDiff } from '../../evaluation/report/diff-runs.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { createRunJournal, type RunJournal } from '../../evaluation/run/run-arms.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { reportDirectory } from '../../package.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderEvaluation } from './render-evaluation.ts';

/** Where to, each if it was asked for; the empty path of the data is stdout. */
export interface Outputs {
  json?: string | undefined;
  html?: string | undefined;
  junit?: string | undefined;
  markdown?: string | undefined;
  /** Where the comment says that the page can be seen. */
  reportUrl?: string | undefined;
}

/** Writes what was asked for, and the verdict with its tables to stdout unless the data goes there. */
export async function writeOutputs(
  report: ReportData,
  { json, html, junit, markdown, reportUrl }: Outputs,
  { kept, diff }: { kept: { name: string; isFirst: boolean } | null; diff: RunDiff | null },
): Promise<void> {
  const toStdout = json === '';
  const written: string[] = [];
  const write = async (path: string, content: string) => {
    await writeOutputFile(path, content);
    written.push(path);
  };
  if (json !== undefined && !toStdout) await write(json, `${JSON.stringify(report)}\n`);
  if (html !== undefined) {
    const { readReportAssets, renderReport } = await import('../../evaluation/report/render-report.ts');
    await write(html, renderReport(report, await readReportAssets(reportDirectory())));
  }
  if (junit !== undefined) {
    const { renderJunit } = await import('../../evaluation/report/junit.ts');
    await write(junit, renderJunit(report));
  }
  if (markdown !== undefined) {
    const { renderMarkdown } = await import('../../evaluation/report/markdown.ts');
    await write(markdown, renderMarkdown(report, { diff, reportUrl }));
  }
  if (toStdout) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const terminal = createTerminal(process.stdout);
  terminal.write(renderEvaluation(report, terminal));
  for (const path of written) terminal.write(terminal.text(`Written: ${path}\n`, 'dim'));
  if (kept === null) return;
  const next = kept.isFirst ? '.' : ': citeloop eval diff last~1 last';
  terminal.write(terminal.text(`Kept as ${kept.name}${next}\n`, 'dim'));
}

/** Writes a file that a flag names, making its folder. Throws `invalid_input`. */
export async function writeOutputFile(path: string, content: string): Promise<void> {
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

/** The text of a file that a flag or an argument names. Throws `invalid_input`. */
export async function readInputFile(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new AppError(
      'invalid_input',
      `${what} ${path} ${isMissing ? 'does not exist' : 'cannot be read'}.`,
      {
        hint: isMissing ? 'Check the path.' : messageOf(error),
        cause: error,
      },
    );
  }
}

/** What a JSON file holds. Throws `invalid_input`. */
export async function readJsonFile(path: string, what: string): Promise<unknown> {
  const text = await readInputFile(path, what);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('invalid_input', `${what} ${path} is no JSON.`, {
      hint: messageOf(error),
      cause: error,
    });
  }
}

/** What a person has corrected by hand must not be lost to a second draft. Throws `invalid_input`. */
export function assertNotExisting(path: string, force: boolean | undefined): void {
  if (force || !existsSync(path)) return;
  throw new AppError('invalid_input', `${path} is there already.`, {
    hint: 'Choose another file with --output, or write over it with --force.',
  });
}

interface RunState {
  journal: RunJournal;
  /** Runs that an earlier, interrupted evaluation has left. */
  resumed: number;
  /** Once the evaluation is complete, nothing is left to go on with. */
  discard(): Promise<void>;
}

interface RunStateOptions {
  /** Forget what an earlier one has left. */
  fresh: boolean;
  /** False for a run that must be whole: a tape holds every call or none. */
  kept: boolean;
}

/** The file that an interrupted evaluation of exactly this goes on from: same cases, settings and documents. */
export async function openRunState(
  home: string,
  identity: unknown,
  { fresh, kept }: RunStateOptions,
): Promise<RunState> {
  if (!kept) return { journal: createRunJournal([], async () => {}), resumed: 0, discard: async () => {} };
  const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
  const path = join(home, 'evaluations', `${key}.jsonl`);
  if (fresh) await rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true });
  const earlier = await readFile(path, 'utf8').catch(() => '');
  // A line that was cut short must not swallow the next one.
  if (earlier !== '' && !earlier.endsWith('\n')) await appendFile(path, '\n');
  const journal = createRunJournal(
    earlier.split('\n').filter((line) => line !== ''),
    (line) => appendFile(path, line),
  );
  return { journal, resumed: journal.size, discard: () => rm(path, { force: true }) };
}
