import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Milliseconds that some work takes. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Measures variants side by side: one after the other in every round, in turning order, so that whatever
 * else the machine does hits all of them alike. Gives each one's measurements, by round.
 */
export async function interleaved<Name extends string>(
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

/** Nearest rank, with the mean of the two middle ones for an even median. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[Math.min(sorted.length - 1, Math.max(0, index))] ?? Number.NaN;
  if (share === 0.5) return (at(Math.ceil(sorted.length / 2) - 1) + at(Math.floor(sorted.length / 2))) / 2;
  return at(Math.ceil(share * sorted.length) - 1);
}

/** The median of the ratios round by round, which a slow spell of the machine hardly moves. */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  return median(numerators.map((value, round) => value / (denominators[round] ?? Number.NaN)));
}

/** Runs a script to its end. Throws what it had to say if it fails. */
export async function runNode(
  args: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said.trim()}`);
}

/** A directory for the time of some work; it is gone afterwards. */
export async function withTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'citeloop-bench-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
