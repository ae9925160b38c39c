import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from '../support/measure.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';

const CHILD = fileURLToPath(new URL('../children/turn-memory.ts', import.meta.url));
const RUNS = 3;
const FEW = 100;
const MANY = 1000;

/** The output of children/turn-memory.ts for each number of turns. */
export interface TurnMemory {
  rssMb: number;
  heapMb: number;
}

/** Our agent, our agent with V8 forced to release free pages, or the bare SDK. */
type Variant = 'ours' | 'ours-released' | 'bare';

interface Growth {
  few: TurnMemory;
  many: TurnMemory;
}

/**
 * Compares the memory of a process after many turns of a session with that after few. After a normal collection, V8 keeps
 * empty pages and a large young generation, also with the SDK alone. The target therefore applies to the memory after V8
 * is forced to release free pages; the numbers without that are reported too.
 */
export async function benchTurnMemory(): Promise<BenchmarkRow[]> {
  const plain: Growth[] = [];
  const released: Growth[] = [];
  const bare: Growth[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    plain.push(await turnsInChild('ours'));
    released.push(await turnsInChild('ours-released'));
    bare.push(await turnsInChild('bare'));
  }
  return [
    createRow(`turn memory: RSS after ${FEW} turns and a collection, ${RUNS} processes`, few(plain), 'MB'),
    createRow(`turn memory: RSS after ${MANY} turns`, many(plain), 'MB', { ratio: growthOf(plain) }),
    createRow(
      `turn memory: heap in use after ${MANY} turns, compared with ${FEW}`,
      many(plain, 'heapMb'),
      'MB',
      {
        ratio: growthOf(plain, 'heapMb'),
      },
    ),
    createRow(
      `turn memory: RSS after V8 releases free pages, ${MANY} compared with ${FEW}`,
      many(released),
      'MB',
      {
        ratio: growthOf(released),
        target: { of: 'ratio', atMost: 1.3 },
      },
    ),
    createRow(
      `turn memory: RSS of the bare SDK Runner, no session, ${MANY} compared with ${FEW}`,
      many(bare),
      'MB',
      {
        ratio: growthOf(bare),
      },
    ),
  ];
}

async function turnsInChild(variant: Variant): Promise<Growth> {
  const args = ['--expose-gc', CHILD, variant, String(FEW), String(MANY)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const [early, late] = JSON.parse(stdout) as [TurnMemory, TurnMemory];
  return { few: early, many: late };
}

function few(runs: readonly Growth[]): number {
  return median(runs.map((run) => run.few.rssMb));
}

function many(runs: readonly Growth[], part: keyof TurnMemory = 'rssMb'): number {
  return median(runs.map((run) => run.many[part]));
}

function growthOf(runs: readonly Growth[], part: keyof TurnMemory = 'rssMb'): number {
  return median(runs.map((run) => run.many[part] / run.few[part]));
}
