import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A measurement or a note. */
export interface BenchmarkRow {
  name: string;
  value: number | null;
  unit: string;
  /** The value relative to the baseline that the name mentions. */
  ratio: number | null;
  target: string | null;
  met: boolean | null;
}

/** A bound on the value or on the ratio. */
export interface BenchmarkTarget {
  of: 'value' | 'ratio';
  atMost?: number;
  atLeast?: number;
}

export function createRow(
  name: string,
  value: number,
  unit: string,
  { ratio, target }: { ratio?: number; target?: BenchmarkTarget } = {},
): BenchmarkRow {
  const base = { name, value, unit, ratio: ratio ?? null };
  if (target === undefined) return { ...base, target: null, met: null };
  const { of, atMost, atLeast } = target;
  const measured = (of === 'ratio' ? ratio : value) ?? Number.NaN;
  const met =
    measured <= (atMost ?? Number.POSITIVE_INFINITY) && measured >= (atLeast ?? Number.NEGATIVE_INFINITY);
  const subject = of === 'ratio' ? 'ratio ' : '';
  const bound = atMost === undefined ? `>= ${atLeast}` : `<= ${atMost}`;
  return { ...base, target: `${subject}${bound}${of === 'value' && unit ? ` ${unit}` : ''}`, met };
}

/** A row without a value: why a measurement is missing, or whether a condition is met. */
export function createNote(name: string, met: boolean | null = null): BenchmarkRow {
  return { name, value: null, unit: '', ratio: null, target: null, met };
}

export function formatRows(rows: readonly BenchmarkRow[]): string {
  const cells = rows.map(({ name, value, unit, ratio, target, met }) => [
    name,
    value === null ? '' : formatNumber(value),
    unit,
    ratio === null ? '' : formatNumber(ratio),
    target ?? '',
    met === null ? '' : met ? 'met' : 'missed',
  ]);
  return alignColumns([['benchmark', 'value', 'unit', 'ratio', 'target', ''], ...cells], [1, 3]);
}

/** Aligns cells into columns; `rightAligned` are column indices. */
export function alignColumns(lines: readonly (readonly string[])[], rightAligned: readonly number[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          rightAligned.includes(column)
            ? cell.padStart(widths[column] ?? 0)
            : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) < 10 ? 3 : 1);
}

export interface MachineInfo {
  date: string;
  cpu: string;
  cores: number;
  memoryGb: number;
  node: string;
  platform: string;
  /** The load average at the start; other work was running if it exceeds the number of cores. */
  load: number;
}

export function describeMachine(): MachineInfo {
  return {
    date: new Date().toISOString(),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

export function formatMachine({ date, cpu, cores, memoryGb, node, platform, load }: MachineInfo): string {
  return `${date}  ${cpu}, ${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}, load ${load}`;
}

/** Results and collections, which are not in version control. */
export const RESULTS_DIRECTORY = fileURLToPath(new URL('../results', import.meta.url));

/** Returns the path of the file. */
export async function writeResults(file: string, results: unknown): Promise<string> {
  const path = join(RESULTS_DIRECTORY, file);
  await mkdir(RESULTS_DIRECTORY, { recursive: true });
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
  return path;
}
