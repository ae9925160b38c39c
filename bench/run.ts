import { messageOf } from '../src/domain/app-error.ts';
import { oneLine } from '../src/domain/visible-text.ts';
import { describeMachine, formatMachine } from './machine.ts';
import { writeResults } from './results.ts';
import { formatRows, note, type Row } from './rows.ts';

type Benchmark = () => Promise<Row[]>;

/** Each loads its code when its turn comes. */
const BENCHMARKS: Record<string, () => Promise<Benchmark>> = {
  ingest: async () => (await import('./ingest.ts')).benchIngest,
  batch: async () => (await import('./batch.ts')).benchBatch,
  reingest: async () => (await import('./reingest.ts')).benchReingest,
  memory: async () => (await import('./memory.ts')).benchMemory,
  startup: async () => (await import('./startup.ts')).benchStartup,
  warm: async () => (await import('./warm.ts')).benchWarm,
  turn: async () => (await import('./turn.ts')).benchTurn,
  'long-session': async () => (await import('./long-session.ts')).benchLongSession,
  'turn-memory': async () => (await import('./turn-memory.ts')).benchTurnMemory,
  serve: async () => (await import('./serve.ts')).benchServe,
  stores: async () => (await import('./stores.ts')).benchStores,
  'qdrant-upsert': async () => (await import('./qdrant-upsert.ts')).benchQdrantUpsert,
  'cold-ask': async () => (await import('./cold-ask.ts')).benchColdAsk,
  report: async () => (await import('./report.ts')).benchReport,
  evaluation: async () => (await import('./evaluation.ts')).benchEvaluation,
  tape: async () => (await import('./tape.ts')).benchTape,
};

/** Runs the benchmarks that were named, or all of them. Reports what was missed and what failed; always ends well. */
const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(BENCHMARKS, name));
if (unknown.length > 0) {
  console.log(
    `There is no benchmark ${unknown.join(', ')}. There is: ${Object.keys(BENCHMARKS).join(', ')}.`,
  );
} else {
  await main(named.length > 0 ? named : Object.keys(BENCHMARKS));
}

async function main(names: readonly string[]): Promise<void> {
  const machine = describeMachine();
  console.log(`${formatMachine(machine)}\n`);
  const rows: Row[] = [];
  for (const name of names) {
    console.error(`running ${name} ...`);
    rows.push(...(await rowsOf(name)));
  }
  console.log(formatRows(rows));
  console.log(`\nWritten to ${await writeResults('bench.json', { machine, rows })}`);
}

async function rowsOf(name: string): Promise<Row[]> {
  try {
    const benchmark = await BENCHMARKS[name]?.();
    return (await benchmark?.()) ?? [];
  } catch (error) {
    return [note(`${name}: failed, ${oneLine(messageOf(error), 160)}`, false)];
  }
}
