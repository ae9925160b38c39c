import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { openCollection } from '../../app/open-collection.ts';
import type { Config } from '../../config/load-config.ts';
import { address, listed, readFlag, wholeNumber } from '../../config/read-value.ts';
import { OFFLINE_MODEL } from '../../domain/agent-config.ts';
import type { TokensUsed } from '../../domain/agent-response.ts';
import type { SearchMode } from '../../domain/choices.ts';
import { collectionFingerprint } from '../../domain/collection-identity.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { pinGold } from '../../evaluation/cases/pin-gold.ts';
import { hashOfCases, readCases } from '../../evaluation/cases/read-cases.ts';
import { allMetrics } from '../../evaluation/metrics/all-metrics.ts';
import type { Metric } from '../../evaluation/metrics/metric.ts';
import { assembleReport, withoutResults } from '../../evaluation/report/assemble-report.ts';
import {
  assertSameCases,
  checkBaseline,
  checkBound,
  type Gate,
  parseGate,
  readBaseline,
} from '../../evaluation/report/gates.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { createBudget } from '../../evaluation/run/budget.ts';
import { openChecks } from '../../evaluation/run/checks.ts';
import type { ArmPlan } from '../../evaluation/run/plan-arms.ts';
import { noPrices, type PriceFile, type PriceOf, pricesBy, readPrices } from '../../evaluation/run/prices.ts';
import { runArms } from '../../evaluation/run/run-arms.ts';
import { AppError } from '../../faults/app-error.ts';
import { version } from '../../package.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { Run } from '../../tape/tape-run.ts';
import { counted } from '../../text/phrasing.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { openRunState, readJsonFile, readNamedFile } from './evaluation-files.ts';
import { notePins } from './gold-ledger.ts';
import { type InForce, openArm, openJudge, settleArm } from './open-arms.ts';
import { createTally } from './tally.ts';

const DEFAULT_CONCURRENCY = 2;
/** A loss or gain of five in a hundred answers, or of five per cent of the tokens, is where a difference begins to matter. */
const DEFAULT_MARGIN = 0.05;

/** What every evaluation is asked for, as flags and tapes say it. */
export const evaluationSchema = z.object({
  cases: z.string().optional(),
  tools: z.array(z.string()).optional(),
  repeat: z.number().optional(),
  concurrency: z.number().optional(),
  seed: z.number().optional(),
  margin: z.number().optional(),
  tag: z.array(z.string()).optional(),
  metrics: z.string().optional(),
  judge: z.number().optional(),
  judgeModel: z.string().optional(),
  judgeBaseUrl: z.string().optional(),
  budget: z.number().optional(),
  prices: z.string().optional(),
  fresh: z.boolean().optional(),
  resume: z.boolean().optional(),
});

export interface EvaluationInputs extends z.infer<typeof evaluationSchema> {
  /** What the report has to pass; asked of the command, not of a replay. */
  gate?: string[] | undefined;
}

/** Flags of the commands that run cases. */
export interface EvaluationFlags extends Omit<CommonFlags, 'json'>, TapeFlags, EvaluationInputs {
  policy?: string | undefined;
  model?: string | undefined;
  baseUrl?: string | undefined;
  api?: string | undefined;
  toolName?: string | undefined;
  threshold?: number | undefined;
  /** Where to write the data; empty is stdout. */
  json?: string | undefined;
  html?: string | undefined;
  junit?: string | undefined;
  markdown?: string | undefined;
  reportUrl?: string | undefined;
}

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
  const file = inputs.cases ?? '';
  const repeat = readFlag('--repeat', inputs.repeat, wholeNumber(1)) ?? 1;
  // A tape is the same again only if questions come one after the other.
  const atOnce = readFlag('--concurrency', inputs.concurrency, wholeNumber(1)) ?? DEFAULT_CONCURRENCY;
  const concurrency = tape === null ? atOnce : 1;
  const seed = readFlag('--seed', inputs.seed, wholeNumber(0)) ?? 1;
  const margin =
    readFlag('--margin', inputs.margin, z.number().min(0).max(1).describe('a number from 0 to 1')) ??
    DEFAULT_MARGIN;
  const judgements = readFlag('--judge', inputs.judge, wholeNumber(1));
  const gates = (inputs.gate ?? []).map(parseGate);
  const cases = tagged(readCases(await readNamedFile(file, 'The file of cases'), file), inputs.tag ?? []);
  const metrics = chooseMetrics(inputs.metrics, gates, cases);
  const casesHash = hashOfCases(cases);
  const baselines = await readBaselines(gates, casesHash, file);
  const prices = await pricesFor(inputs.prices, app.config.prices);
  const priceOf = prices ? pricesBy(prices) : noPrices;
  const limit = readFlag('--budget', inputs.budget, z.number().min(0).describe('an amount of money'));
  // A tape of before may have been recorded so.
  if (judgements !== undefined && inputs.judgeModel === undefined && !tape?.replaying) {
    throw ownJudge(app.config.agent.model);
  }
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
    judge:
      judge === undefined
        ? null
        : { ask: judge.ask, priceOf: (tokens: TokensUsed) => priceOf(judge.model, tokens) },
  });

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
    const readSource = inputs.tools?.includes('read_source') ?? false;
    if (limit !== undefined) {
      refuseUnpriced(
        [...arms.map(({ settings }) => settings.model), ...(judge ? [judge.model] : [])],
        priceOf,
      );
    }
    const open = await Promise.all(
      arms.map((arm) => openArm(arm, { store, readSource, priceOf, judge: judge?.judge, check, tape })),
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
      repeat,
      concurrency,
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
        repeat,
        concurrency,
        seed,
        margin,
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
      await notePins(app.config.home, cases, pins, {
        collection: info.name,
        date: report.header.date,
        anew: false,
      });
    }
    return { ...report, gates: checked };
  } finally {
    await store.close();
  }
}

/** Nobody has a model judge itself without having said so. */
function ownJudge(model: string): AppError {
  return new AppError('invalid_input', `--judge alone would have ${model} judge its own answers.`, {
    hint:
      model === OFFLINE_MODEL
        ? 'Name the model that judges with --judge-model.'
        : `Name another model with --judge-model, or say so: --judge-model ${model}.`,
  });
}

/** The prices of a file, or else those of the configuration; null where neither has any. */
async function pricesFor(file: string | undefined, configured: Config['prices']): Promise<PriceFile | null> {
  if (file !== undefined) return readPrices(await readJsonFile(file, 'The price file'), file);
  return Object.keys(configured).length === 0
    ? null
    : readPrices({ models: configured }, 'of the configuration');
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

/** The metrics that were asked for, and those of the gates. Throws `invalid_input` for one that the cases have no gold for. */
function chooseMetrics(
  list: string | undefined,
  gates: readonly Gate[],
  cases: readonly EvaluationCase[],
): readonly Metric[] {
  const named = list === undefined ? undefined : listed(list);
  const unknown = named?.find((id) => !allMetrics.some((metric) => metric.id === id));
  if (unknown !== undefined) {
    throw new AppError('invalid_input', `There is no metric "${unknown}".`, {
      hint: `Metrics are ${allMetrics.map(({ id }) => id).join(', ')}.`,
    });
  }
  const gated = gates.flatMap((gate) => (gate.kind === 'bound' ? [gate.metric] : []));
  const ids = new Set([...(named ?? []), ...gated]);
  for (const metric of allMetrics) if (ids.has(metric.id)) assertGold(metric, cases);
  return named === undefined ? allMetrics : allMetrics.filter(({ id }) => ids.has(id));
}

function assertGold(metric: Metric, cases: readonly EvaluationCase[]): void {
  if (metric.hasGold === undefined || cases.some((item) => metric.hasGold?.(withoutResults(item)))) return;
  throw new AppError('invalid_input', `${metric.id} was asked for, but ${metric.needs}.`, {
    hint: 'Add it to the cases, or do not ask for the metric; docs/metrics.md says what each needs.',
  });
}
