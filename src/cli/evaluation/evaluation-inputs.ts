import * as z from 'zod';
import type { Config } from '../../config/load-config.ts';
import { listed, readFlag, wholeNumber } from '../../config/read-value.ts';
import { OFFLINE_MODEL } from '../../domain/choices.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { hashCases, parseCases } from '../../evaluation/cases/read-cases.ts';
import { allMetrics } from '../../evaluation/metrics/all-metrics.ts';
import type { Metric } from '../../evaluation/metrics/metric.ts';
import { withoutResults } from '../../evaluation/report/assemble-report.ts';
import { assertSameCases, type Gate, parseGate, readBaseline } from '../../evaluation/report/gates.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { noPrices, type PriceFile, pricesBy, readPrices } from '../../evaluation/run/prices.ts';
import { AppError } from '../../faults/app-error.ts';
import type { TapeRun } from '../../tape/tape-run.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { readInputFile, readJsonFile } from './evaluation-files.ts';

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

/** What was asked for, checked, with the files that it names: a misspelt path or flag must not cost an hour. */
export async function readInputs(inputs: EvaluationInputs, config: Config, tape: TapeRun | null) {
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
  const cases = tagged(parseCases(await readInputFile(file, 'The file of cases'), file), inputs.tag ?? []);
  const metrics = chooseMetrics(inputs.metrics, gates, cases);
  const casesHash = hashCases(cases);
  const baselines = await readBaselines(gates, casesHash, file);
  const prices = await pricesFor(inputs.prices, config.prices);
  const priceOf = prices ? pricesBy(prices) : noPrices;
  const limit = readFlag('--budget', inputs.budget, z.number().min(0).describe('an amount of money'));
  // A tape of before may have been recorded so.
  if (judgements !== undefined && inputs.judgeModel === undefined && !tape?.replaying) {
    throw ownJudge(config.agent.model);
  }
  return {
    file,
    repeat,
    concurrency,
    seed,
    margin,
    judgements,
    gates,
    cases,
    casesHash,
    metrics,
    baselines,
    prices,
    priceOf,
    limit,
  };
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
