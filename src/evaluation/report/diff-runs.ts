import { AppError } from '../../faults/app-error.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { allMetrics } from '../metrics/all-metrics.ts';
import { canBeCorrect, countCorrect, isCorrect } from '../metrics/answer-metrics.ts';
import { type CaseRuns, pairRuns, selectPrimaryMetrics } from '../metrics/metric.ts';
import { compareColumns } from '../statistics/compare-columns.ts';
import { formatConclusion, formatPValue } from './format-metric.ts';
import { findHeadline } from './recommend-arm.ts';
import type { MetricComparison, ReportCase, ReportData } from './report-data.ts';

interface CaseAnswer {
  state: 'right' | 'wrong' | 'error' | 'not gradable';
  answer: string;
}

/** A case that changed between right and wrong. */
export interface FlippedCase {
  id: string;
  question: string;
  before: CaseAnswer;
  after: CaseAnswer;
}

type SettingValue = string | number | boolean | null;

/** One arm of a run. */
interface RunSide {
  run: string;
  arm: string;
  date: string;
}

/** The differences between two runs. */
export interface RunDiff {
  before: RunSide;
  after: RunSide;
  /** Of the settings that both runs recorded; long texts and documents by their hash. */
  settings: { setting: string; before: SettingValue; after: SettingValue }[];
  /** Cases with the same id, question and history. */
  shared: number;
  /** Other cases of the earlier and of the later run. */
  gone: string[];
  added: string[];
  /** The primary metrics except the time, on the shared cases. */
  metrics: MetricComparison[];
  /** Those that got worse first. */
  flipped: FlippedCase[];
  /** Shared cases with another answer that is as right or wrong as before. */
  reworded: number;
}

interface NamedReport {
  name: string;
  report: ReportData;
  /** The first arm if not given. */
  arm?: string | undefined;
}

/** Compares an arm of two runs on their shared cases, by the gold of the later run. Throws `invalid_input` without any. */
export function diffRuns(earlier: NamedReport, later: NamedReport): RunDiff {
  const [before, after] = [toSide(earlier), toSide(later)];
  const earlierCases = new Map(earlier.report.cases.map((item) => [item.id, item]));
  const isSame = (item: ReportCase) => {
    const former = earlierCases.get(item.id);
    return former !== undefined && questionKey(former) === questionKey(item);
  };
  const shared = later.report.cases.filter(isSame);
  if (shared.length === 0) {
    throw new AppError('invalid_input', `${earlier.name} and ${later.name} have no case in common.`, {
      hint: 'Cases are the same if id, question and history are.',
    });
  }
  const measure = (item: ReportCase, runs: CaseRuns['runs'] | undefined): CaseRuns => ({
    id: item.id,
    gold: item,
    runs: runs ?? [],
  });
  const now = shared.map((item) => measure(item, item.results[after.arm]?.runs));
  const then = shared.map((item) => measure(item, earlierCases.get(item.id)?.results[before.arm]?.runs));
  // Times of two runs depend on the load of the machine.
  const compared = selectPrimaryMetrics(allMetrics, hasPrices(earlier) && hasPrices(later)).filter(
    ({ group }) => group !== 'time',
  );
  const { pairs, options } = pairRuns(compared, now, then, later.report);
  const [metrics = []] = compareColumns([pairs], options);
  const headline = findHeadline(metrics);
  const changed = [...(headline?.worse ?? []), ...(headline?.better ?? [])];
  const flipped = changed.map((id): FlippedCase => {
    const index = shared.findIndex((item) => item.id === id);
    const question = shared[index]?.question ?? '';
    return { id, question, before: toAnswer(then[index]), after: toAnswer(now[index]) };
  });
  const reworded = shared.filter(
    ({ id }, index) => !changed.includes(id) && then[index]?.runs[0]?.answer !== now[index]?.runs[0]?.answer,
  );
  const sharedIds = new Set(shared.map(({ id }) => id));
  const idsNotShared = ({ cases }: ReportData) =>
    cases.map(({ id }) => id).filter((id) => !sharedIds.has(id));
  return {
    before,
    after,
    settings: changedSettings(settingsOf(earlier.report, before.arm), settingsOf(later.report, after.arm)),
    shared: shared.length,
    gone: idsNotShared(earlier.report),
    added: idsNotShared(later.report),
    metrics,
    flipped,
    reworded: reworded.length,
  };
}

function toSide({ name, report, arm }: NamedReport): RunSide {
  const found = arm === undefined ? report.arms[0] : report.arms.find((one) => one.name === arm);
  if (found !== undefined) return { run: name, arm: found.name, date: report.header.date };
  throw new AppError('invalid_input', `${name} has no arm "${oneLine(arm ?? '', 60)}".`, {
    hint: `Its arms: ${report.arms.map((one) => one.name).join(', ')}.`,
  });
}

function hasPrices({ report }: NamedReport): boolean {
  return report.header.totals.money !== null;
}

function questionKey({ question, history }: ReportCase): string {
  return JSON.stringify([question, history]);
}

function toAnswer(measured: CaseRuns | undefined): CaseAnswer {
  const { gold, runs } = measured as CaseRuns;
  const answer = runs[0]?.answer ?? '';
  if (runs.some(({ error }) => error !== null)) return { state: 'error', answer };
  if (!canBeCorrect(gold) || runs.some((run) => isCorrect(run, gold) === null))
    return { state: 'not gradable', answer };
  return { state: countCorrect(runs, gold) > runs.length / 2 ? 'right' : 'wrong', answer };
}

/** Everything that a run records about its conditions, by name. */
function settingsOf({ header, arms }: ReportData, armName: string): Map<string, SettingValue> {
  const arm = arms.find(({ name }) => name === armName);
  const { version, collection, casesHash, repeat, grader } = header;
  return new Map(
    Object.entries({
      ...arm?.settings,
      ...arm?.otherSettings,
      collection: collection.name,
      ...(collection.fingerprint !== null && { documents: collection.fingerprint }),
      embedder: collection.embedder,
      cases: casesHash,
      repeat,
      grader: grader?.model ?? null,
      version,
    }),
  );
}

function changedSettings(
  before: ReadonlyMap<string, SettingValue>,
  after: ReadonlyMap<string, SettingValue>,
): RunDiff['settings'] {
  return [...after].flatMap(([setting, value]) => {
    const former = before.get(setting);
    return former === undefined || former === value ? [] : [{ setting, before: former, after: value }];
  });
}

/** The change of correct answers in one sentence. */
export function formatFlips({ shared, metrics, flipped }: RunDiff): string {
  const headline = findHeadline(metrics);
  if (headline === undefined) return 'No case defines a correct answer.';
  if (flipped.length === 0)
    return `No case changed between right and wrong (${formatCount(shared, 'case')}).`;
  const { n, better, worse, conclusion, adjustedP } = headline;
  const p = adjustedP === null ? '' : `, ${formatPValue(adjustedP)}`;
  return `Of ${formatCount(n, 'answer')}, ${worse.length} got worse and ${better.length} better: ${formatConclusion(conclusion)}${p}.`;
}

const HASHED_SETTINGS = ['documents', 'cases', 'systemPrompt', 'abstentionPhrases'];

/** The changed settings in one sentence. */
export function formatSettingChanges({ settings }: Pick<RunDiff, 'settings'>): string {
  if (settings.length === 0) return 'No recorded setting changed.';
  const format = (value: SettingValue) =>
    typeof value === 'boolean' ? (value ? 'on' : 'off') : value === null ? 'none' : String(value);
  const changes = settings.map(({ setting, before, after }) =>
    HASHED_SETTINGS.includes(setting) ? setting : `${setting} ${format(before)} → ${format(after)}`,
  );
  return `Changed settings: ${changes.join('; ')}.`;
}
