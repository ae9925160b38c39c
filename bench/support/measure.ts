import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the duration in milliseconds. */
export async function measureMs(work: () => Promise<unknown> | unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Measures all variants in every round, in alternating order, so that other load on the machine affects them equally.
 * Returns the measurements of each variant by round.
 */
export async function measureInterleaved<Name extends string>(
  rounds: number,
  variants: Record<Name, (round: number) => Promise<number>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(variants) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      measured[name].push(await variants[name](round));
    }
  }
  return measured;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Nearest rank; the median of an even number of values is the mean of the two middle ones. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const valueAt = (index: number) => sorted[Math.min(sorted.length - 1, Math.max(0, index))] ?? Number.NaN;
  if (share === 0.5)
    return (valueAt(Math.ceil(sorted.length / 2) - 1) + valueAt(Math.floor(sorted.length / 2))) / 2;
  return valueAt(Math.ceil(share * sorted.length) - 1);
}

/** The median of the ratios by round, which is robust against slow rounds. */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  return median(numerators.map((value, round) => value / (denominators[round] ?? Number.NaN)));
}

/** Runs a script. Throws with its stderr if it fails. */
export async function runNode(
  args: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`${args.join(' ')} exited with code ${code}: ${stderr.trim()}`);
}

/** The blocks that a directory takes on disk; sparse files count with what is written. */
export function diskMb(directory: string): number {
  return Number.parseInt(execFileSync('du', ['-sk', directory], { encoding: 'utf8' }), 10) / 1024;
}

/** Runs `work` with a directory that is removed afterwards. */
export async function withTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'citeloop-bench-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** CPU time of this process and of the server, if there is one. */
export function cpuTimeMs(serverPid: number | null): number {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1000;
  return serverPid === null ? own : own + processCpuMs(serverPid);
}

/** CPU time of another process. */
export function processCpuMs(pid: number): number {
  // Fields 14 and 15 of /proc/<pid>/stat, in hundredths of a second; the name before may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Of a process: all resident memory, its own (RssAnon), or the files that it maps (RssFile). */
export function residentMb(pid: number, field: 'VmRSS' | 'RssAnon' | 'RssFile' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
}
