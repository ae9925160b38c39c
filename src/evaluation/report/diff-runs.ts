import { AppError } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import { allMetrics } from '../metrics/all-metrics.ts';
import { type CaseRuns, tabulate } from '../metrics/metric.ts';
import { createSampler } from '../statistics/bootstrap.ts';
import { compareColumns, HEADLINE } from '../statistics/compare-columns.ts';
import { unitsOf } from '../statistics/units.ts';
import type { CaseRun } from './case-run.ts';
import type { MetricComparison } from './comparison.ts';
import type { ReportCase } from './report-case.ts';
import type { ReportData } from './report-data.ts';

/** What an answer came to, in a word. */
export type AnswerState = 'right' | 'wrong' | 'error' | 'not judged';

/** A case that came out otherwise. */
export interface Flip {
  id: string;
  question: string;
  before: { state: AnswerState; answer: string };
  after: { state: AnswerState; answer: string };
}

/** One arm of a run. */
interface Side {
  run: string;
  arm: string;
  date: string;
}

/** Something that was set otherwise; texts and documents by a hash of them. */
export interface SettingChange {
  setting: string;
  before: string | number | boolean | null;
  after: string | number | boolean | null;
}

/** What changed between two runs of any day. */
export interface RunDiff {
  before: Side;
  after: Side;
  /** What the runs differ in besides what came of them, of what both have noted. */
  settings: SettingChange[];
  /** Cases that are in both with the same question. */
  shared: number;
  /** Cases that are in one alone, or whose question changed. */
  gone: string[];
  added: string[];
  /** On the shared cases, in the order of all metrics. */
  metrics: MetricComparison[];
  /** Right before and not now first, then the other way round. */
  flipped: Flip[];
  /** Cases that say the same of being right, but in other words. */
  reworded: number;
}

interface Named {
  name: string;
  report: ReportData;
  /** The first unless it is named. */
  arm?: string | undefined;
}

/** Times of two runs were not taken side by side: another load of the machine would pass for a difference of the arms. */
const COMPARABLE = allMetrics.filter(({ group }) => group !== 'time');

/** Holds one arm of a run against one of another, on the cases that both have. Throws `invalid_input` if there are none. */
export function diffRuns(former: Named, latter: Named): RunDiff {
  const [before, after] = [sideOf(former), sideOf(latter)];
  const questions = new Map(former.report.cases.map((item) => [item.id, keyOf(item)]));
  const shared = latter.report.cases.filter((item) => questions.get(item.id) === keyOf(item));
  if (shared.length === 0) {
    throw new AppError('invalid_input', `${former.name} and ${latter.name} have no case in common.`, {
      hint: 'A case is the same if its id, its question and its history are.',
    });
  }
  const inBoth = new Set(shared.map(({ id }) => id));
  const earlier = new Map(former.report.cases.map((item) => [item.id, item]));
  // Today's gold judges both: what counts as right may have been corrected in between.
  const measured = (runsOf: (item: ReportCase) => readonly CaseRun[]): CaseRuns[] =>
    shared.map((item) => ({ id: item.id, gold: item, runs: runsOf(item) }));
  const now = measured((item) => item.results[after.arm]?.runs ?? []);
  const then = measured((item) => earlier.get(item.id)?.results[before.arm]?.runs ?? []);
  const units = unitsOf(shared.map(({ conversation }) => conversation));
  const { seed, margin } = latter.report.header;
  const [metrics = []] = compareColumns(
    [COMPARABLE.map((metric) => ({ metric, arm: tabulate(metric, now), baseline: tabulate(metric, then) }))],
    { caseIds: shared.map(({ id }) => id), units, sample: createSampler(seed, units), seed, margin },
  );
  const headline = metrics.find(({ metric }) => metric === HEADLINE);
  const changed = [...(headline?.worse ?? []), ...(headline?.better ?? [])];
  const places = new Map(shared.map(({ id }, index) => [id, index]));
  const correct = allMetrics.find(({ id }) => id === HEADLINE);
  const stateOf = ({ gold, runs }: CaseRuns): AnswerState => {
    if (runs.some(({ error }) => error !== null)) return 'error';
    if (correct?.hasGold?.(gold) === false) return 'not judged';
    const parts = runs.map((run) => correct?.measure(run, gold)?.sum ?? 0);
    return parts.reduce((sum, part) => sum + part, 0) > runs.length / 2 ? 'right' : 'wrong';
  };
  const told = (one: CaseRuns) => ({ state: stateOf(one), answer: one.runs[0]?.answer ?? '' });
  const flipped = changed.map((id): Flip => {
    const at = places.get(id) ?? 0;
    return {
      id,
      question: shared[at]?.question ?? '',
      before: told(then[at] as CaseRuns),
      after: told(now[at] as CaseRuns),
    };
  });
  const reworded = shared.filter(
    ({ id }, at) => !changed.includes(id) && then[at]?.runs[0]?.answer !== now[at]?.runs[0]?.answer,
  ).length;
  return {
    before,
    after,
    settings: changedSettings(settingsOf(former.report, before.arm), settingsOf(latter.report, after.arm)),
    shared: shared.length,
    gone: former.report.cases.flatMap(({ id }) => (inBoth.has(id) ? [] : [id])),
    added: latter.report.cases.flatMap(({ id }) => (inBoth.has(id) ? [] : [id])),
    metrics,
    flipped,
    reworded,
  };
}

/** All that decides what comes of a run, as far as it was noted, by name. */
function settingsOf({ header, arms }: ReportData, name: string): Map<string, SettingChange['before']> {
  const arm = arms.find((one) => one.name === name);
  const { version, collection, casesHash, repeat, judge } = header;
  return new Map(
    Object.entries({
      ...arm?.settings,
      ...arm?.otherSettings,
      collection: collection.name,
      ...(collection.fingerprint !== null && { documents: collection.fingerprint }),
      embedder: collection.embedder,
      cases: casesHash,
      repeat,
      judge,
      version,
    }),
  );
}

/** What one of them has not noted may have been the same. */
function changedSettings(
  before: ReadonlyMap<string, SettingChange['before']>,
  after: ReadonlyMap<string, SettingChange['before']>,
): SettingChange[] {
  return [...after].flatMap(([setting, now]) => {
    const then = before.get(setting);
    return then === undefined || then === now ? [] : [{ setting, before: then, after: now }];
  });
}

function keyOf({ question, history }: ReportCase): string {
  return JSON.stringify([question, history]);
}

function sideOf({ name, report, arm }: Named): Side {
  const found = arm === undefined ? report.arms[0] : report.arms.find((one) => one.name === arm);
  if (found !== undefined) return { run: name, arm: found.name, date: report.header.date };
  throw new AppError('invalid_input', `${name} has no arm "${oneLine(arm ?? '', 60)}".`, {
    hint: `Its arms are ${report.arms.map((one) => one.name).join(', ')}.`,
  });
}
