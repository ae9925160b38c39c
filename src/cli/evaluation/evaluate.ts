import { dirname, resolve } from 'node:path';
import type { App } from '../../app/create-app.ts';
import { openCollection } from '../../app/open-collection.ts';
import { address, readFlag } from '../../config/read-value.ts';
import type { SearchMode } from '../../domain/choices.ts';
import { collectionFingerprint } from '../../domain/collection-identity.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { pinGold } from '../../evaluation/cases/gold-pins.ts';
import { assembleReport } from '../../evaluation/report/assemble-report.ts';
import { checkBaseline, checkBound } from '../../evaluation/report/gates.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { createBudget } from '../../evaluation/run/budget.ts';
import { openChecks } from '../../evaluation/run/checks.ts';
import type { ArmPlan } from '../../evaluation/run/plan-arms.ts';
import type { PriceOf } from '../../evaluation/run/prices.ts';
import { runArms } from '../../evaluation/run/run-arms.ts';
import { AppError } from '../../faults/app-error.ts';
import { version } from '../../package.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { Run } from '../../tape/tape-run.ts';
import { counted } from '../../text/phrasing.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { openRunState } from './evaluation-files.ts';
import { type EvaluationInputs, readInputs } from './evaluation-inputs.ts';
import { saveGoldPins } from './gold-snapshots.ts';
import { type InForce, openArm, openJudge, settleArm } from './open-arms.ts';
import { createTally } from './tally.ts';

export interface EvaluationPlan {
  mode: SearchMode;
  /** What each arm changes; told the settings in force. */
  arms: (inForce: Pick<InForce, 'scoreThreshold' | 'rerank'>) => ArmPlan[];
}

/** Runs the cases of a file in every arm and puts the report together, gates included. */
export async function evaluate(
  app: App,
  inputs: EvaluationInputs,
  plan: EvaluationPlan,
  { signal, tape }: Run,
): Promise<ReportData> {
  const { runtime } = app;
  const started = runtime.elapsedMs();
  const asked = await readInputs(inputs, app.config, tape);
  const { file, cases, casesHash, metrics, gates, baselines, prices, priceOf, limit, judgements } = asked;
  const judge =
    judgements === undefined && inputs.judgeModel === undefined
      ? undefined
      : await openJudge(app, {
          times: judgements ?? 1,
          model: inputs.judgeModel,
          baseUrl: readFlag('--judge-base-url', inputs.judgeBaseUrl, address),
          priceOf,
        });

  const check = await openChecks(cases, {
    directory: dirname(resolve(file)),
    judge: judge ?? null,
  });

  const store = await openCollection(app, signal, tape);
  try {
    const embedder = await app.embedder();
    const inForce = {
      mode: plan.mode,
      rerank: app.config.rerank.on,
      scoreThreshold: app.config.agent.scoreThreshold ?? embedder.scoreThreshold,
    };
    const arms = plan.arms(inForce).map((arm) => settleArm(arm, app, inForce));
    const readSource = inputs.tools?.includes('read_source') ?? false;
    if (limit !== undefined) {
      refuseUnpriced(
        [...arms.map(({ settings }) => settings.model), ...(judge ? [judge.model] : [])],
        priceOf,
      );
    }
    const open = await Promise.all(
      arms.map((arm) => openArm(arm, { store, readSource, priceOf, judge, check, tape })),
    );
    const info = await store.info();
    // On a tape a server is asked for nothing but what the run needs.
    const mayLook = app.config.store === 'sqlite' || tape === null;
    const documents = mayLook ? await Array.fromAsync(store.documents()) : null;
    const pins = documents === null ? undefined : await pinGold(cases, store, documents);
    const state = await openRunState(
      app.config.home,
      {
        version,
        casesHash,
        collection: [info.name, info.embedder, info.chunks, info.updatedAt],
        arms: arms.map(({ name, settings, app: { config } }) => [name, settings, config.agent]),
        readSource,
        judge: judge === undefined ? null : [judge.model, judge.times],
        prices,
      },
      { fresh: inputs.fresh ?? inputs.resume === false, kept: tape === null },
    );
    // The first search opens files and warms code; on a tape it would be a call too many.
    if (tape === null) await warmUp(app, store, cases, signal);
    const bar = createProgressBar(
      state.resumed > 0 ? `Going on after ${counted(state.resumed, 'answer')}` : 'Asking',
    );
    const tally = createTally(prices ? prices.currency : null, judge !== undefined);
    const results = await runArms(cases, open, {
      repeat: asked.repeat,
      concurrency: asked.concurrency,
      signal,
      journal: state.journal,
      ...(limit !== undefined && { budget: createBudget(limit) }),
      onProgress(progress) {
        tally.add(progress);
        bar.update({ done: progress.done, total: progress.total, note: tally.line(progress.arm) });
      },
    }).finally(() => bar.clear());
    const report = assembleReport({
      cases,
      metrics,
      pins,
      arms: arms.map(({ name, settings, otherSettings, changed }) => ({
        name,
        settings,
        otherSettings,
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
          fingerprint: documents === null ? null : collectionFingerprint(store.identity, documents),
        },
        casesFile: file,
        casesHash,
        cases: cases.length,
        repeat: asked.repeat,
        concurrency: asked.concurrency,
        seed: asked.seed,
        margin: asked.margin,
        date: runtime.now().toISOString(),
        durationMs: runtime.elapsedMs() - started,
        totals: tally.totals(),
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
    if (pins !== undefined && !tape?.replaying) {
      await saveGoldPins(app.config.home, cases, pins, {
        collection: info.name,
        date: report.header.date,
        overwrite: false,
      });
    }
    return { ...report, gates: checked };
  } finally {
    await store.close();
  }
}

/** A budget of money needs to know what everything costs. Throws `invalid_input`. */
function refuseUnpriced(models: readonly string[], priceOf: PriceOf): void {
  const unpriced = models.find((model) => priceOf(model, { prompt: 1, completion: 1, total: 2 }) === null);
  if (unpriced === undefined) return;
  throw new AppError('invalid_input', `--budget needs the price of ${unpriced}.`, {
    hint: 'Name a file with it: --prices prices.json; docs/evaluation.md shows one.',
  });
}

/** One search that is not measured, so that no arm pays for what is done once. What is wrong with it the cases will tell. */
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
