import { AppError } from '../../domain/app-error.ts';
import type { SearchMode } from '../../domain/search-mode.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { hashOfCases, readCases } from '../../evaluation/cases/read-cases.ts';
import { assembleReport } from '../../evaluation/report/assemble-report.ts';
import { assertSameCases, checkBaseline, readBaseline } from '../../evaluation/report/baseline-gate.ts';
import { checkBound, type Gate, parseGate } from '../../evaluation/report/gates.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { ArmPlan } from '../../evaluation/run/plan-arms.ts';
import { noPrices, pricesBy, readPrices } from '../../evaluation/run/prices.ts';
import { runArms } from '../../evaluation/run/run-arms.ts';
import { version } from '../../version.ts';
import type { App } from '../../wire.ts';
import { openCollection } from '../open-collection.ts';
import { createProgressBar } from '../progress-bar.ts';
import type { TapeRun } from '../tape/tape-run.ts';
import { chooseMetrics } from './choose-metrics.ts';
import type { EvaluationFlags } from './evaluation-flags.ts';
import { type InForce, openArm, settleArm } from './open-arms.ts';
import { openJudge } from './open-judge.ts';
import { readJsonFile, readNamedFile } from './read-json-file.ts';
import { openRunState } from './run-state.ts';

const DEFAULT_CONCURRENCY = 2;

export interface EvaluationPlan {
  mode: SearchMode;
  /** What each arm changes; told the settings in force. */
  arms: (inForce: Pick<InForce, 'scoreThreshold' | 'rerank'>) => ArmPlan[];
}

/** Runs the cases of a file in every arm and puts the report together, gates included. */
export async function evaluate(
  app: App,
  flags: EvaluationFlags,
  plan: EvaluationPlan,
  signal: AbortSignal,
  tape: TapeRun | null = null,
): Promise<ReportData> {
  const { runtime } = app;
  const started = runtime.elapsedMs();
  const file = flags.cases ?? '';
  const repeat = wholeNumber(flags.repeat, 'repeat', 1);
  // A tape is the same again only if questions come one after the other.
  const concurrency = tape !== null ? 1 : wholeNumber(flags.concurrency, 'concurrency', DEFAULT_CONCURRENCY);
  const seed = wholeNumber(flags.seed, 'seed', 1, 0);
  const gates = (flags.gate ?? []).map(parseGate);
  const cases = tagged(readCases(await readNamedFile(file, 'The file of cases'), file), flags.tag ?? []);
  const metrics = chooseMetrics(flags.metrics, gates, cases);
  const casesHash = hashOfCases(cases);
  const baselines = await readBaselines(gates, casesHash, file);
  const prices = flags.prices && readPrices(await readJsonFile(flags.prices, 'The price file'), flags.prices);
  const judge =
    flags.judge === undefined ? undefined : await openJudge(app, wholeNumber(flags.judge, 'judge', 1));

  const store = await openCollection(app, signal, tape);
  try {
    const embedder = await app.embedder();
    const inForce = {
      mode: plan.mode,
      rerank: app.config.rerank.on,
      scoreThreshold: app.config.agent.scoreThreshold ?? embedder.scoreThreshold,
      embedder,
    };
    const arms = plan.arms(inForce).map((arm) => settleArm(arm, app, inForce));
    const readSource = flags.tools?.includes('read_source') ?? false;
    const priceOf = prices ? pricesBy(prices) : noPrices;
    const open = await Promise.all(
      arms.map((arm) => openArm(arm, { store, readSource, priceOf, judge: judge?.judge, tape })),
    );
    const info = await store.info();
    const state = await openRunState(
      app.config.home,
      {
        version,
        casesHash,
        collection: [info.name, info.embedder, info.chunks, info.updatedAt],
        arms: arms.map(({ name, settings, app: { config } }) => [name, settings, config.agent]),
        readSource,
        judge: judge?.times ?? 0,
        prices,
      },
      { fresh: flags.fresh ?? false, kept: tape === null },
    );
    const bar = createProgressBar(state.resumed > 0 ? `Going on after ${state.resumed} answers` : 'Asking');
    const results = await runArms(cases, open, {
      repeat,
      concurrency,
      signal,
      journal: state.journal,
      onProgress: ({ done, total, arm }) => bar.update({ done, total, note: arm }),
    }).finally(() => bar.clear());
    const report = assembleReport({
      cases,
      metrics,
      arms: arms.map(({ name, settings, changed }) => ({
        name,
        settings,
        changed,
        runs: results.get(name) ?? new Map(),
      })),
      header: {
        program: 'citeloop',
        version,
        models: [...new Set(arms.map(({ settings }) => settings.model))],
        collection: {
          name: info.name,
          documents: info.documents,
          chunks: info.chunks,
          embedder: info.embedder,
        },
        casesFile: file,
        casesHash,
        cases: cases.length,
        repeat,
        concurrency,
        seed,
        date: runtime.now().toISOString(),
        durationMs: runtime.elapsedMs() - started,
        currency: prices ? prices.currency : null,
        judge: judge?.model ?? null,
      },
    });
    const checked = gates.flatMap((gate) =>
      gate.kind === 'bound'
        ? [checkBound(gate, report)]
        : checkBaseline(gate, report, baselines.get(gate.file) as ReportData),
    );
    await state.discard();
    return { ...report, gates: checked };
  } finally {
    await store.close();
  }
}

/** Read before anything is asked: a misspelt path must not cost an hour. */
async function readBaselines(
  gates: readonly Gate[],
  casesHash: string,
  casesFile: string,
): Promise<Map<string, ReportData>> {
  const baselines = new Map<string, ReportData>();
  for (const gate of gates) {
    if (gate.kind !== 'baseline') continue;
    const baseline = readBaseline(await readJsonFile(gate.file, 'The baseline'), gate.file);
    assertSameCases(gate.file, baseline, { casesHash, casesFile });
    baselines.set(gate.file, baseline);
  }
  return baselines;
}

function tagged(cases: EvaluationCase[], tags: readonly string[]): EvaluationCase[] {
  if (tags.length === 0) return cases;
  const kept = cases.filter((item) => item.tags?.some((tag) => tags.includes(tag)));
  if (kept.length > 0) return kept;
  const known = [...new Set(cases.flatMap((item) => item.tags ?? []))];
  throw new AppError('invalid_input', `No case has the tag ${tags.join(' or ')}.`, {
    hint: known.length > 0 ? `Tags are ${known.join(', ')}.` : 'No case has any tag.',
  });
}

function wholeNumber(value: number | undefined, flag: string, otherwise: number, least = 1): number {
  if (value === undefined) return otherwise;
  if (Number.isInteger(value) && value >= least) return value;
  throw new AppError('invalid_input', `--${flag} must be a whole number, at least ${least}.`);
}
