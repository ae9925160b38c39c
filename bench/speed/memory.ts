import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BenchmarkRow, createRow } from '../support/results.ts';

const CHILD = fileURLToPath(new URL('../children/memory.ts', import.meta.url));

/** The output of children/memory.ts. */
export interface MemoryReport {
  chunks: number;
  seconds: number;
  peakMb: number;
  /** Text and vectors. */
  corpusMb: number;
}

/** Compares the peak memory of two corpus sizes, each in a separate process. */
export async function benchMemory(): Promise<BenchmarkRow[]> {
  const small = await ingestInChild(10_000);
  const large = await ingestInChild(100_000);
  return [
    createRow(
      `memory: peak, ${small.chunks} chunks (${small.corpusMb} MB, ${small.seconds} s)`,
      small.peakMb,
      'MB',
    ),
    createRow(
      `memory: peak, ${large.chunks} chunks (${large.corpusMb} MB, ${large.seconds} s)`,
      large.peakMb,
      'MB',
      {
        ratio: large.peakMb / small.peakMb,
        target: { of: 'ratio', atMost: 1.5 },
      },
    ),
  ];
}

async function ingestInChild(chunks: number): Promise<MemoryReport> {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, String(chunks)]);
  return JSON.parse(stdout) as MemoryReport;
}
