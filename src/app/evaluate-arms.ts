import type { Agent } from '../agent/agent.ts';
import { type EvaluationCase, evaluationCaseSchema } from '../evaluation/cases/evaluation-case.ts';
import { hashCases, parseCases } from '../evaluation/cases/parse-cases.ts';
import { allMetrics } from '../evaluation/metrics/all-metrics.ts';
import { assembleReport } from '../evaluation/report/assemble-report.ts';
import type { CaseRun } from '../evaluation/report/case-run.ts';
import { checkGate, parseGate, readBaselines } from '../evaluation/report/gates.ts';
import type { ReportData } from '../evaluation/report/report-data.ts';
import { type ArmFunction, runFunctionArm } from '../evaluation/run/function-arm.ts';
import { createRunJournal, runArms } from '../evaluation/run/run-arms.ts';
import { runAgentCase } from '../evaluation/run/run-case.ts';
import { AppError } from '../faults/app-error.ts';
import { readInputFile } from '../files/read-input-file.ts';
import { version } from '../package.ts';

export interface EvaluateOptions {
  /** Cases, or the path of a case file. */
  cases: string | readonly EvaluationCase[];
  /** How often each question is asked; default 1. */
  repeat?: number;
  /** Questions at a time; default 2. */
  concurrency?: number;
  seed?: number;
  /** Equivalence margin; default 0.05. */
  margin?: number;
  /** As `--gate` on the command line; results are in `gates` of the report. */
  gates?: readonly string[];
  signal?: AbortSignal;
}

/** An agent of `createAgent`, or a function that asks any other one. */
export type EvaluatedArm = Agent | ArmFunction;

/** Asks the cases and measures the answers. Throws `invalid_input` for invalid cases or gates. */
export function evaluate(arm: EvaluatedArm, options: EvaluateOptions): Promise<ReportData> {
  return evaluateArms({ agent: arm }, options);
}

/** Asks the cases in every arm, by name, and compares all pairs. The first two arms are the question. */
export function compare(
  arms: Readonly<Record<string, EvaluatedArm>>,
  options: EvaluateOptions,
): Promise<ReportData> {
  if (Object.keys(arms).length < 2)
    throw new AppError('invalid_input', 'Nothing to compare: there is only one arm.');
  return evaluateArms(arms, options);
}

async function evaluateArms(
  arms: Readonly<Record<string, EvaluatedArm>>,
  { repeat = 1, concurrency = 2, seed = 1, margin = 0.05, ...options }: EvaluateOptions,
): Promise<ReportData> {
  const signal = options.signal ?? new AbortController().signal;
  const file = typeof options.cases === 'string' ? options.cases : 'cases';
  const cases =
    typeof options.cases === 'string'
      ? parseCases(readInputFile(options.cases, 'Case file'), file)
      : options.cases.map((item) => evaluationCaseSchema.parse(item));
  const gates = (options.gates ?? []).map(parseGate);
  const elapsedMs = () => performance.now();
  const started = elapsedMs();
  const names = Object.keys(arms);
  const results = await runArms(
    cases,
    names.map((name) => ({ name, ask: createAsk(arms[name] as EvaluatedArm, elapsedMs) })),
    { repeat, concurrency, signal, journal: createRunJournal([], async () => {}) },
  );
  const turns = [...results.values()].flatMap((ofArm) => [...ofArm.values()].flat());
  const report = assembleReport({
    cases,
    metrics: allMetrics,
    arms: names.map((name) => ({ name, settings: null, changed: {}, runs: results.get(name) ?? new Map() })),
    header: {
      program: 'citeloop',
      version,
      models: names,
      collection: { name: 'library', documents: 0, chunks: 0, embedder: '', fingerprint: null },
      casesFile: file,
      casesHash: hashCases(cases),
      cases: cases.length,
      repeat,
      concurrency,
      seed,
      margin,
      date: new Date().toISOString(),
      durationMs: elapsedMs() - started,
      totals: {
        turns: turns.length,
        reused: 0,
        tokens: turns.reduce((sum, { tokens }) => sum + tokens.total, 0),
        money: null,
        grading: null,
      },
      currency: null,
      grader: null,
    },
  });
  const baselines = readBaselines(gates, report.header);
  return { ...report, gates: gates.map((gate) => checkGate(gate, report, baselines)) };
}

function createAsk(arm: EvaluatedArm, elapsedMs: () => number) {
  return (item: EvaluationCase, repeat: number, signal: AbortSignal): Promise<CaseRun> =>
    typeof arm === 'function'
      ? runFunctionArm(arm, item, { repeat, signal, elapsedMs })
      : runAgentCase(arm, item, { repeat, signal, elapsedMs });
}
