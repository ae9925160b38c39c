import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { readBaseline } from '../../evaluation/report/gates.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { AppError } from '../../faults/app-error.ts';
import { counted } from '../../text/phrasing.ts';
import { readJsonFile } from './evaluation-files.ts';

const SUFFIX = '.json.gz';
/** Older ones are forgotten. */
const MOST_KEPT = 200;

/** Keeps a finished evaluation, and says under which name: when it was finished, to the second; and whether it is alone. */
export async function keepRun(home: string, report: ReportData): Promise<{ name: string; isFirst: boolean }> {
  const folder = folderIn(home);
  await mkdir(folder, { recursive: true });
  const time = report.header.date
    .replace(/\.\d+Z$/, '')
    .replace(/[-:]/g, '')
    .replace('T', '-');
  const names = [time, ...Array.from({ length: 99 }, (_, index) => `${time}-${index + 2}`)];
  const name = names.find((each) => !existsSync(join(folder, each + SUFFIX))) ?? time;
  const packed = await promisify(gzip)(JSON.stringify(report));
  // Whoever lists runs meanwhile must not find half of one.
  await writeFile(join(folder, name + SUFFIX), packed, { flush: true });
  const all = await runNames(home);
  for (const old of all.slice(0, -MOST_KEPT)) await rm(join(folder, old + SUFFIX));
  return { name, isFirst: all.length === 1 };
}

/** The names of the runs that are kept, oldest first. */
export async function runNames(home: string): Promise<string[]> {
  const files = await readdir(folderIn(home)).catch(() => []);
  return files.flatMap((file) => (file.endsWith(SUFFIX) ? [file.slice(0, -SUFFIX.length)] : [])).sort(byTime);
}

/** A kept run by its name; null for one that cannot be read: another version wrote it, or it was cut short. */
export async function readRun(home: string, name: string): Promise<ReportData | null> {
  try {
    const text = (await promisify(gunzip)(await readFile(join(folderIn(home), name + SUFFIX)))).toString();
    return readBaseline(JSON.parse(text), name);
  } catch {
    return null;
  }
}

/** A report by what a person calls it: a file, the name of a kept run or its beginning, `last`, or `last~1` for the one before. */
export async function findReport(
  home: string,
  called: string,
): Promise<{ name: string; report: ReportData }> {
  if (existsSync(called)) {
    return { name: called, report: readBaseline(await readJsonFile(called, 'The report'), called) };
  }
  const names = await runNames(home);
  const [, back] = /^last(?:~(\d+))?$/.exec(called) ?? [];
  const found = called.startsWith('last')
    ? [names.at(-1 - Number(back ?? 0))].filter((name) => name !== undefined)
    : names.filter((name) => name.startsWith(called));
  const [name] = found.includes(called) ? [called] : found;
  if (name === undefined || (found.length > 1 && !found.includes(called))) {
    throw new AppError(
      'invalid_input',
      name === undefined
        ? `There is no file and no run called "${called}"${back === undefined || names.length === 0 ? '' : `: only ${counted(names.length, 'run is', 'runs are')} kept`}.`
        : `Several runs begin with "${called}".`,
      { hint: 'List the runs that are kept with: citeloop eval runs' },
    );
  }
  const report = await readRun(home, name);
  if (report !== null) return { name, report };
  throw new AppError('invalid_input', `The run "${name}" cannot be read: another version may have kept it.`);
}

function byTime(a: string, b: string): number {
  const parts = (name: string) => name.split('-').map(Number);
  const [left, right] = [parts(a), parts(b)];
  return (
    (left[0] ?? 0) - (right[0] ?? 0) || (left[1] ?? 0) - (right[1] ?? 0) || (left[2] ?? 1) - (right[2] ?? 1)
  );
}

function folderIn(home: string): string {
  return join(home, 'evaluations', 'runs');
}
