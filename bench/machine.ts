import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

export interface Machine {
  date: string;
  cpu: string;
  cores: number;
  memoryGb: number;
  node: string;
  platform: string;
  /** Load over the last minute when the run began: above the number of cores, others were at work too. */
  load: number;
}

export function describeMachine(): Machine {
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

export function formatMachine({ date, cpu, cores, memoryGb, node, platform, load }: Machine): string {
  return `${date}  ${cpu}, ${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}, load ${load}`;
}
