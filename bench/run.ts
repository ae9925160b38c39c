import { messageOf } from '../src/faults/app-error.ts';
import { oneLine } from '../src/text/visible-text.ts';
import {
  type BenchmarkRow,
  createNote,
  describeMachine,
  formatMachine,
  formatRows,
  writeResults,
} from './support/results.ts';

type Benchmark = () => Promise<BenchmarkRow[]>;

/** Benchmarks are loaded when they run. */
const BENCHMARKS: Record<string, () => Promise<Benchmark>> = {
  ingest: async () => (await import('./speed/ingest.ts')).benchIngest,
  batch: async () => (await import('./speed/batch.ts')).benchBatch,
  reingest: async () => (await import('./speed/reingest.ts')).benchReingest,
  memory: async () => (await import('./speed/memory.ts')).benchMemory,
  startup: async () => (await import('./speed/startup.ts')).benchStartup,
  warm: async () => (await import('./speed/warm.ts')).benchWarm,
  turn: async () => (await import('./speed/turn.ts')).benchTurn,
  check: async () => (await import('./speed/check.ts')).benchCheck,
  'long-session': async () => (await import('./speed/long-session.ts')).benchLongSession,
  'turn-memory': async () => (await import('./speed/turn-memory.ts')).benchTurnMemory,
  serve: async () => (await import('./speed/serve.ts')).benchServe,
  stores: async () => (await import('./speed/stores.ts')).benchStores,
  'qdrant-upsert': async () => (await import('./speed/qdrant-upsert.ts')).benchQdrantUpsert,
  'cold-ask': async () => (await import('./speed/cold-ask.ts')).benchColdAsk,
  report: async () => (await import('./speed/report.ts')).benchReport,
  evaluation: async () => (await import('./speed/evaluation.ts')).benchEvaluation,
  tape: async () => (await import('./speed/tape.ts')).benchTape,
};

// Runs the given benchmarks, or all. The exit code is 0 even if a target is missed or a benchmark fails.
const selected = process.argv.slice(2);
const unknown = selected.filter((name) => !Object.hasOwn(BENCHMARKS, name));
if (unknown.length > 0) {
  console.log(`Unknown benchmark ${unknown.join(', ')}. Available: ${Object.keys(BENCHMARKS).join(', ')}.`);
} else {
  await main(selected.length > 0 ? selected : Object.keys(BENCHMARKS));
}

async function main(names: readonly string[]): Promise<void> {
  const machine = describeMachine();
  console.log(`${formatMachine(machine)}\n`);
  const rows: BenchmarkRow[] = [];
  for (const name of names) {
    console.error(`running ${name} ...`);
    rows.push(...(await runBenchmark(name)));
  }
  console.log(formatRows(rows));
  console.log(`\nWritten to ${await writeResults('bench.json', { machine, rows })}`);
}

async function runBenchmark(name: string): Promise<BenchmarkRow[]> {
  try {
    const benchmark = await BENCHMARKS[name]?.();
    return (await benchmark?.()) ?? [];
  } catch (error) {
    return [createNote(`${name}: failed, ${oneLine(messageOf(error), 160)}`, false)];
  }
}
