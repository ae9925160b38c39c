import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from '../support/measure.ts';
import { type Row, row } from '../support/results.ts';

const CHILD = fileURLToPath(new URL('../children/turn-memory.ts', import.meta.url));
const RUNS = 3;
const FEW = 100;
const MANY = 1000;

/** What turn-memory-child.ts prints for each number of turns. */
export interface TurnMemory {
  rssMb: number;
  heapMb: number;
}

/** Who takes the turns, and whether V8 is made to hand back the pages that it keeps for later. */
type Variant = 'ours' | 'ours-handed-back' | 'bare';

interface Growth {
  few: TurnMemory;
  many: TurnMemory;
}

/**
 * What a process holds after many turns of one session against after few. After a plain collection, V8 keeps
 * hundreds of empty pages and a young generation as large as it ever was, however little is in use: that says
 * when V8 last grew, not what a session needs, and it grows alike under the SDK alone. So the target is for the
 * memory that is left when V8 is made to hand back what is free, before both samples; the plain numbers stand
 * beside it.
 */
export async function benchTurnMemory(): Promise<Row[]> {
  const plain: Growth[] = [];
  const handedBack: Growth[] = [];
  const bare: Growth[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    plain.push(await turnsInChild('ours'));
    handedBack.push(await turnsInChild('ours-handed-back'));
    bare.push(await turnsInChild('bare'));
  }
  return [
    row(`turn memory: RSS after ${FEW} turns and a collection, ${RUNS} processes`, few(plain), 'MB'),
    row(`turn memory: RSS after ${MANY} turns`, many(plain), 'MB', { ratio: growthOf(plain) }),
    row(`turn memory: heap in use after ${MANY} turns against ${FEW}`, many(plain, 'heapMb'), 'MB', {
      ratio: growthOf(plain, 'heapMb'),
    }),
    row(`turn memory: RSS when V8 hands back free pages, ${MANY} against ${FEW}`, many(handedBack), 'MB', {
      ratio: growthOf(handedBack),
      target: { of: 'ratio', atMost: 1.3 },
    }),
    row(`turn memory: RSS of the bare SDK Runner, no session, ${MANY} against ${FEW}`, many(bare), 'MB', {
      ratio: growthOf(bare),
    }),
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
