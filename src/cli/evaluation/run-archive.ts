import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { parseReport, type ReportData } from '../../evaluation/report/report-data.ts';
import { AppError } from '../../faults/app-error.ts';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';
import { formatCount } from '../../text/format-count.ts';
import { readJsonFile } from './evaluation-files.ts';

const SUFFIX = '.json.gz';
/** Older runs are deleted. */
const MAX_RUNS = 200;

/** Stores a finished evaluation under its date and time. */
export async function archiveRun(
  home: string,
  report: ReportData,
): Promise<{ name: string; isFirst: boolean }> {
  const folder = archiveFolder(home);
  const time = report.header.date
    .replace(/\.\d+Z$/, '')
    .replace(/[-:]/g, '')
    .replace('T', '-');
  const names = [time, ...Array.from({ length: 99 }, (_, index) => `${time}-${index + 2}`)];
  const name = names.find((each) => !existsSync(join(folder, each + SUFFIX))) ?? time;
  await writeFileAtomic(join(folder, name + SUFFIX), await promisify(gzip)(JSON.stringify(report)));
  const all = await listArchivedRuns(home);
  for (const old of all.slice(0, -MAX_RUNS)) await rm(join(folder, old + SUFFIX));
  return { name, isFirst: all.length === 1 };
}

/** Names of the archived runs, oldest first. */
export async function listArchivedRuns(home: string): Promise<string[]> {
  const files = await readdir(archiveFolder(home)).catch(() => []);
  return files
    .flatMap((file) => (file.endsWith(SUFFIX) ? [file.slice(0, -SUFFIX.length)] : []))
    .sort(new Intl.Collator('en', { numeric: true }).compare);
}

/** Null if the file is damaged or of an unknown version. */
export async function readArchivedRun(home: string, name: string): Promise<ReportData | null> {
  try {
    const packed = await readFile(join(archiveFolder(home), name + SUFFIX));
    return parseReport(JSON.parse((await promisify(gunzip)(packed)).toString()), name);
  } catch {
    return null;
  }
}

/** A report by file path, by the name of an archived run or its beginning, or by `last`, `last~1` and so on. */
export async function findReport(
  home: string,
  reference: string,
): Promise<{ name: string; report: ReportData }> {
  if (existsSync(reference)) {
    return { name: reference, report: parseReport(await readJsonFile(reference, 'Report'), reference) };
  }
  const names = await listArchivedRuns(home);
  const [isLast, back = '0'] = /^last(?:~(\d+))?$/.exec(reference) ?? [];
  const matching = isLast
    ? [names.at(-1 - Number(back)) ?? []].flat()
    : names.filter((name) => name.startsWith(reference));
  const name = matching.includes(reference) ? reference : matching[0];
  if (name === undefined || (matching.length > 1 && name !== reference)) {
    const message =
      name === undefined
        ? `There is no ${isLast ? '' : 'file or '}run "${reference}": ${formatCount(names.length, 'run')} saved.`
        : `Several runs start with "${reference}".`;
    throw new AppError('invalid_input', message, {
      hint: `Newest runs: ${names.slice(-10).reverse().join(', ') || 'none'}.`,
    });
  }
  const report = await readArchivedRun(home, name);
  if (report !== null) return { name, report };
  throw new AppError('invalid_input', `Could not read the run "${name}".`, {
    hint: 'It is damaged, or was saved by another version of citeloop.',
  });
}

function archiveFolder(home: string): string {
  return join(home, 'evaluations', 'runs');
}
