import * as z from 'zod';
import type { AppConfig } from '../../config/load-config.ts';
import { httpUrlSchema, integerSchema, parseFlag } from '../../config/parse-value.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { hashCases, parseCases, parseJsonLines } from '../../evaluation/cases/parse-cases.ts';
import { allMetrics } from '../../evaluation/metrics/all-metrics.ts';
import { toPlainCase } from '../../evaluation/report/assemble-report.ts';
import { parseGate, type QualityGate, readBaselines } from '../../evaluation/report/gates.ts';
import { handGradeSchema } from '../../evaluation/run/grade-model.ts';
import {
  createPriceCalculator,
  type PriceList,
  parsePriceList,
  unknownPrice,
} from '../../evaluation/run/model-prices.ts';
import { AppError } from '../../faults/app-error.ts';
import { readInputFile, readJsonFile } from '../../files/read-input-file.ts';
import type { RunObserver } from '../../tape/run-observer.ts';
import type { FlagValues, TapeFlags } from '../flags/common-flags.ts';
import type { JsonCommandFlags } from './evaluation-files.ts';

const DEFAULT_CONCURRENCY = 2;
/** Five points of a share, or five per cent of tokens and times. */
const DEFAULT_MARGIN = 0.05;

/** The inputs of an evaluation that a tape records. */
export const evaluationInputsSchema = z.object({
  cases: z.string().optional(),
  repeat: z.number().optional(),
  concurrency: z.number().optional(),
  seed: z.number().optional(),
  margin: z.number().optional(),
  tag: z.array(z.string()).optional(),
  gradeModel: z.string().optional(),
  gradeBaseUrl: z.string().optional(),
  handGrades: z.string().optional(),
  budget: z.number().optional(),
  prices: z.string().optional(),
  fresh: z.boolean().optional(),
});

export interface EvaluationInputs extends z.infer<typeof evaluationInputsSchema> {
  /** Not recorded: a replay checks no gates. */
  gate?: string[] | undefined;
}

/** Flags of `eval` and `compare`. */
export interface EvaluationFlags
  extends JsonCommandFlags,
    TapeFlags,
    EvaluationInputs,
    FlagValues<'policy' | 'model' | 'baseUrl' | 'api' | 'toolName', string>,
    FlagValues<'html' | 'markdown' | 'reportUrl', string> {
  threshold?: number | undefined;
}

export type CheckedInputs = ReturnType<typeof checkInputs>;

/** Validates the inputs and reads the files that they name, before any question is asked. Throws `invalid_input`. */
export function checkInputs(inputs: EvaluationInputs, config: AppConfig, tape: RunObserver | null) {
  const file = inputs.cases ?? '';
  const concurrency = parseFlag('--concurrency', inputs.concurrency, integerSchema(1)) ?? DEFAULT_CONCURRENCY;
  const marginSchema = z.number().min(0).max(1).describe('a number from 0 to 1');
  const gates = (inputs.gate ?? []).map(parseGate);
  const cases = filterByTag(parseCases(readInputFile(file, 'Case file'), file), inputs.tag ?? []);
  assertMeasurable(gates, cases);
  const casesHash = hashCases(cases);
  const prices = readPriceList(inputs.prices, config.prices);
  return {
    file,
    cases,
    casesHash,
    repeat: parseFlag('--repeat', inputs.repeat, integerSchema(1)) ?? 1,
    // A tape replays only if questions are asked in the same order.
    concurrency: tape === null ? concurrency : 1,
    seed: parseFlag('--seed', inputs.seed, integerSchema(0)) ?? 1,
    margin: parseFlag('--margin', inputs.margin, marginSchema) ?? DEFAULT_MARGIN,
    gates,
    baselines: readBaselines(gates, { casesHash, casesFile: file }),
    prices,
    priceOf: prices === null ? unknownPrice : createPriceCalculator(prices),
    budget: parseFlag('--budget', inputs.budget, z.number().min(0).describe('an amount of money')),
    grader:
      inputs.gradeModel === undefined
        ? null
        : {
            model: inputs.gradeModel,
            baseUrl: parseFlag('--grade-base-url', inputs.gradeBaseUrl, httpUrlSchema),
          },
    handGrades: inputs.handGrades === undefined ? null : readHandGrades(inputs.handGrades),
    fresh: inputs.fresh ?? false,
  };
}

/** One JSON object per line: the id of a case, an answer, and whether it is correct. */
function readHandGrades(file: string) {
  const issues: string[] = [];
  const rows = parseJsonLines(readInputFile(file, 'File'), issues).map(({ value, line }) => {
    const { data } = handGradeSchema.safeParse(value);
    if (data === undefined) issues.push(`line ${line}: expected id, answer and correct`);
    return data;
  });
  if (issues[0] !== undefined) throw new AppError('invalid_input', `${file}, ${issues[0]}.`);
  return rows.filter((row) => row !== undefined);
}

/** From the file, else from the configuration; null without prices. */
function readPriceList(file: string | undefined, configured: AppConfig['prices']): PriceList | null {
  if (file !== undefined) return parsePriceList(readJsonFile(file, 'Price file'), file);
  return Object.keys(configured).length === 0
    ? null
    : parsePriceList({ models: configured }, 'of the configuration');
}

function filterByTag(cases: EvaluationCase[], tags: readonly string[]): EvaluationCase[] {
  if (tags.length === 0) return cases;
  const kept = cases.filter((item) => item.tags?.some((tag) => tags.includes(tag)));
  if (kept.length > 0) return kept;
  const known = [...new Set(cases.flatMap((item) => item.tags ?? []))];
  throw new AppError('invalid_input', `No case has the tag ${tags.join(' or ')}.`, {
    hint: known.length > 0 ? `Tags: ${known.join(', ')}.` : 'No case has a tag.',
  });
}

/** Throws `invalid_input` for a gate on a metric that no case has the gold for. */
function assertMeasurable(gates: readonly QualityGate[], cases: readonly EvaluationCase[]): void {
  const plainCases = cases.map(toPlainCase);
  const gated = gates.map((gate) => (gate.kind === 'bound' ? gate.metric : null));
  const lacking = allMetrics.find(
    ({ id, hasGold }) =>
      gated.includes(id) && hasGold !== undefined && !plainCases.some((item) => hasGold(item)),
  );
  if (lacking === undefined) return;
  throw new AppError('invalid_input', `${lacking.id} cannot be measured: ${lacking.needs}.`, {
    hint: 'Add the field to the cases, or drop the gate; see docs/evaluation.md.',
  });
}
