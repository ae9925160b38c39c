import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from './measure.ts';
import { type Row, row } from './rows.ts';

const CHILD = fileURLToPath(new URL('turn-memory-child.ts', import.meta.url));
const RUNS = 3;
const FEW = 100;
const MANY = 1000;

/** What turn-memory-child.ts prints for each number of turns, after a garbage collection. */
export interface TurnMemory {
  rssMb: number;
  heapMb: number;
}

/** What a process holds after many turns of one session against after few. */
export async function benchTurnMemory(): Promise<Row[]> {
  const runs: { few: TurnMemory; many: TurnMemory }[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      CHILD,
      String(FEW),
      String(MANY),
    ]);
    const [few, many] = JSON.parse(stdout) as [TurnMemory, TurnMemory];
    runs.push({ few, many });
  }
  const of = (when: 'few' | 'many', part: keyof TurnMemory) => median(runs.map((run) => run[when][part]));
  const growth = (part: keyof TurnMemory) => median(runs.map(({ few, many }) => many[part] / few[part]));
  return [
    row(`turn memory: after ${FEW} turns, ${RUNS} processes`, of('few', 'rssMb'), 'MB'),
    row(`turn memory: after ${MANY} turns`, of('many', 'rssMb'), 'MB', {
      ratio: growth('rssMb'),
      target: { of: 'ratio', atMost: 1.3 },
    }),
    row(`turn memory: heap in use after ${MANY} turns against ${FEW}`, of('many', 'heapMb'), 'MB', {
      ratio: growth('heapMb'),
    }),
  ];
}
