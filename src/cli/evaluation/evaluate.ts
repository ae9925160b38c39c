import { dirname, resolve } from 'node:path';
import type { App } from '../../app/create-app.ts';
import { openCollection } from '../../app/open-collection.ts';
import { assertTrustedCode } from '../../config/trust.ts';
import { collectionFingerprint } from '../../domain/collection-identity.ts';
import type { SearchMode } from '../../domain/setting-choices.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { toFileName } from '../../evaluation/cases/expected-source.ts';
import { allMetrics } from '../../evaluation/metrics/all-metrics.ts';
import { assembleReport } from '../../evaluation/report/assemble-report.ts';
import type { CaseRun } from '../../evaluation/report/case-run.ts';
import { checkGate } from '../../evaluation/report/gates.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { prepareChecks } from '../../evaluation/run/custom-checks.ts';
import { measureAgreement } from '../../evaluation/run/grade-model.ts';
import type { ArmPlan } from '../../evaluation/run/plan-arms.ts';
import {
  type RunJournal,
  type RunnableArm,
  type RunResults,
  runArms,
} from '../../evaluation/run/run-arms.ts';
import { AppError } from '../../faults/app-error.ts';
import { version } from '../../package.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { CommandRun, RunObserver } from '../../tape/run-observer.ts';
import { formatCount } from '../../text/format-count.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { openRunState } from './evaluation-files.ts';
import { type CheckedInputs, checkInputs, type EvaluationInputs } from './evaluation-inputs.ts';
import { openArm, openGrader, resolveArm } from './open-arms.ts';

/** Runs the cases of a file in every arm, and returns the report with its gates. */
export async function runEvaluation(
  app: App,
  rawInputs: EvaluationInputs,
  plan: { mode: SearchMode; arms: readonly ArmPlan[] },
  { signal, tape }: CommandRun,
): Promise<ReportData> {
  const started = app.runtime.elapsedMs();
  const inputs = checkInputs(rawInputs, app.config, tape);
  const { cases, priceOf } = inputs;
  const grader = inputs.grader === null ? undefined : await openGrader(app, { ...inputs.grader, priceOf });
  const check = await prepareChecks(cases, {
    directory: dirname(resolve(inputs.file)),
    grader: grader ?? null,
    assertTrustedCode,
  });
  const store = await openCollection(app, signal, tape);
  try {
    const scoreThreshold = app.config.agent.scoreThreshold ?? (await app.embedder()).scoreThreshold;
    const defaults = { mode: plan.mode, rerank: app.config.rerank.by !== 'off', scoreThreshold };
    const arms = await Promise.all(plan.arms.map((arm) => resolveArm(arm, app, defaults)));
    const models = [...new Set(arms.map(({ name, settings }) => settings?.model ?? name))];
    assertPriced(inputs, [
      ...arms.flatMap(({ settings }) => settings?.model ?? []),
      ...(grader ? [grader.model] : []),
    ]);
    const open = await Promise.all(arms.map((arm) => openArm(arm, { store, priceOf, grader, check, tape })));
    const collection = await describeCollection(app, store, cases, tape);
    // The first search loads files and models; on a tape it would be an additional call.
    if (tape === null) await warmUp(app, store, cases, signal);
    // Everything that affects the answers: only a run with the same identity is resumed.
    const identity = {
      version,
      casesHash: inputs.casesHash,
      collection: collection.state,
      arms: arms.map((arm) => [arm.name, arm.settings, arm.app.config.agent]),
      grader: grader?.model ?? null,
      prices: inputs.prices,
    };
    const persistent = tape === null;
    const state = await openRunState(app.config.home, identity, { fresh: inputs.fresh, persistent });
    const { results, newRuns } = await askAll(open, inputs, state.journal, signal);
    const amounts = { hasPrices: inputs.prices !== null, hasGrader: grader !== undefined };
    const agreement =
      grader === undefined || inputs.handGrades === null
        ? null
        : await measureAgreement(inputs.handGrades, cases, grader, signal);
    const report = assembleReport({
      cases,
      metrics: allMetrics,
      hasSources: collection.hasSources,
      arms: arms.map(({ app: _, ask: __, ...arm }) => ({ ...arm, runs: results.get(arm.name) ?? new Map() })),
      header: {
        program: 'citeloop',
        version,
        models,
        collection: collection.header,
        casesFile: inputs.file,
        casesHash: inputs.casesHash,
        cases: cases.length,
        repeat: inputs.repeat,
        concurrency: inputs.concurrency,
        seed: inputs.seed,
        margin: inputs.margin,
        date: app.runtime.now().toISOString(),
        durationMs: app.runtime.elapsedMs() - started,
        totals: toTotals(results, newRuns, amounts),
        currency: inputs.prices?.currency ?? null,
        grader: grader === undefined ? null : { model: grader.model, agreement },
      },
    });
    await state.discard();
    return { ...report, gates: inputs.gates.map((gate) => checkGate(gate, report, inputs.baselines)) };
  } finally {
    await store.close();
  }
}

/** A budget needs the price of every model. Throws `invalid_input`. */
function assertPriced({ budget, priceOf }: CheckedInputs, models: readonly string[]): void {
  if (budget === undefined) return;
  const unpriced = models.find((model) => priceOf(model, { prompt: 1, completion: 1, total: 2 }) === null);
  if (unpriced === undefined) return;
  throw new AppError('invalid_input', `--budget needs the price of ${unpriced}.`, {
    hint: 'Give a price file with --prices; docs/evaluation.md has an example.',
  });
}

/** The collection as the report has it, its state as the journal identifies it, and whether it has any expected source. */
async function describeCollection(
  app: App,
  store: ChunkStore,
  cases: readonly EvaluationCase[],
  tape: RunObserver | null,
) {
  const { name, documents, chunks, embedder, updatedAt } = await store.info();
  // On a tape a server gets no calls besides those that the run needs.
  const listed =
    app.config.store === 'sqlite' || tape === null ? await Array.fromAsync(store.documents()) : null;
  return {
    header: {
      name,
      documents,
      chunks,
      embedder,
      fingerprint: listed === null ? null : collectionFingerprint(store.identity, listed),
    },
    state: [name, embedder, chunks, updatedAt],
    hasSources: listed === null ? undefined : hasExpectedSource(cases, listed),
  };
}

/** Compares file names only, because a wrong collection has none of them. */
function hasExpectedSource(
  cases: readonly EvaluationCase[],
  documents: readonly { url: string; uri: string }[],
): boolean {
  const names = new Set(documents.flatMap(({ url, uri }) => [toFileName(url), toFileName(uri)]));
  return cases.some(({ expectedSources = [] }) =>
    expectedSources.some((source) => names.has(toFileName(source))),
  );
}

/** Errors of this search are left to the cases. */
async function warmUp(
  app: App,
  store: ChunkStore,
  [first]: readonly EvaluationCase[],
  signal: AbortSignal,
): Promise<void> {
  const retriever = await app.retriever(store, { mode: 'hybrid' }).catch(() => null);
  const query = { text: first?.question ?? '', topK: 1, filter: {} };
  await retriever?.retrieve(query, signal).catch(() => signal.throwIfAborted());
}

/** Asks all cases with a progress bar and a journal that an interrupted run continues from. */
async function askAll(
  arms: readonly RunnableArm[],
  { cases, repeat, concurrency, budget }: CheckedInputs,
  journal: RunJournal,
  signal: AbortSignal,
) {
  const resumed = journal.size;
  const bar = createProgressBar(
    resumed > 0 ? `Continuing after ${formatCount(resumed, 'answer')}` : 'Asking',
  );
  const newRuns: CaseRun[] = [];
  let tokens = 0;
  const results = await runArms(cases, arms, {
    repeat,
    concurrency,
    signal,
    journal,
    budget,
    onProgress({ done, total, arm, run, reused }) {
      if (!reused) newRuns.push(run);
      tokens += reused ? 0 : run.tokens.total;
      bar.update({ done, total, note: `${arm}, ${tokens} tokens` });
    },
  }).finally(() => bar.clear());
  return { results, newRuns };
}

/** Tokens and money of the runs that were not reused, with those of grading apart. */
function toTotals(
  results: RunResults,
  newRuns: readonly CaseRun[],
  { hasPrices, hasGrader }: { hasPrices: boolean; hasGrader: boolean },
): ReportData['header']['totals'] {
  const turns = [...results.values()].flatMap((ofArm) => [...ofArm.values()].flat()).length;
  const sum = (amountOf: (run: CaseRun) => number) =>
    newRuns.reduce((total, run) => total + amountOf(run), 0);
  const sumChecks = (amountOf: (check: CaseRun['checks'][number]) => number) =>
    sum(({ checks }) => checks.reduce((total, check) => total + amountOf(check), 0));
  const grading = {
    tokens: sum((run) => run.grade?.tokens ?? 0) + sumChecks(({ tokens }) => tokens),
    money: hasPrices ? sum((run) => run.grade?.cost ?? 0) + sumChecks(({ cost }) => cost ?? 0) : null,
  };
  return {
    turns,
    reused: turns - newRuns.length,
    tokens: sum((run) => run.tokens.total),
    money: hasPrices ? sum(({ cost }) => cost ?? 0) : null,
    grading: hasGrader ? grading : null,
  };
}
