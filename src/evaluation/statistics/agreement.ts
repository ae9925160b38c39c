import { percentileInterval, type Sampler } from './bootstrap.ts';
import { type Column, createColumn, ratioOf, total } from './column.ts';
import { wilsonInterval } from './significance.ts';

/** What a person and a judge say of the same case. */
export interface Ruled {
  person: boolean;
  judge: boolean;
}

/** A value with its 95 % interval; null if too few cases tell. */
export interface Estimate {
  value: number;
  interval: [number, number] | null;
  /** The cases that it is of. */
  n: number;
}

/** Cases in order; null where the judge did not rule. */
export type Rulings = readonly (Ruled | null)[];

/** Cohen's kappa: agreement beyond what the shares of yes on both sides would bring by chance. NaN if all is of one kind. */
export function kappaOf(agreement: number, person: number, judge: number): number {
  const byChance = person * judge + (1 - person) * (1 - judge);
  return byChance === 1 ? Number.NaN : (agreement - byChance) / (1 - byChance);
}

/** How a judge does against people, whose yes is the truth. Null for what nothing can be said of. */
export function measureAgreement(ruled: Rulings, sample: Sampler) {
  const share = (of: (one: Ruled) => boolean, is: (one: Ruled) => boolean) =>
    columnOf(ruled, (one) => (of(one) ? Number(is(one)) : null));
  const all = () => true;
  const agreement = share(all, ({ person, judge }) => person === judge);
  const precision = share(
    ({ judge }) => judge,
    ({ person }) => person,
  );
  const recall = share(
    ({ person }) => person,
    ({ judge }) => judge,
  );
  const specificity = share(
    ({ person }) => !person,
    ({ judge }) => !judge,
  );
  const people = share(all, ({ person }) => person);
  const said = share(all, ({ judge }) => judge);
  return {
    agreement: estimateShare(agreement, sample),
    kappa: combinedShares([agreement, people, said], ([a = 0, p = 0, j = 0]) => kappaOf(a, p, j), 1, sample),
    precision: estimateShare(precision, sample),
    recall: estimateShare(recall, sample),
    balancedAccuracy: combinedShares([recall, specificity], ([r = 0, s = 0]) => (r + s) / 2, 2, sample),
  };
}

/**
 * What shares come to together. Where all cases of the first of them are alike no sample differs, and the bounds of
 * their own intervals stand in.
 */
function combinedShares(
  columns: readonly Column[],
  combine: (values: readonly number[]) => number,
  varying: number,
  sample: Sampler,
): Estimate | null {
  const found = estimate(columns, combine, sample);
  const shares = columns.map(ratioOf);
  const isVaried = shares.slice(0, varying).some((share) => share > 0 && share < 1);
  if (found === null || found.interval === null || isVaried) return found;
  const bounds = columns.map((column) => estimateShare(column, sample)?.interval ?? null);
  const at = (side: 0 | 1) =>
    combine(shares.map((share, index) => (index < varying ? (bounds[index]?.[side] ?? share) : share)));
  return { ...found, interval: [at(0), at(1)] };
}

/**
 * Whether a judge favours a kind of case: how much more often than people it says yes to that kind, less how much more
 * often it does so to the others. 0 for a judge that errs as much on both.
 */
export function measureLean(ruled: Rulings, isKind: (index: number) => boolean, sample: Sampler) {
  const lean = (kind: boolean) =>
    columnOf(ruled, ({ person, judge }, index) =>
      isKind(index) === kind ? Number(judge) - Number(person) : null,
    );
  const [ofKind, ofOthers] = [lean(true), lean(false)];
  const mean = ([value = 0]: readonly number[]) => value;
  return {
    ofKind: estimate([ofKind], mean, sample),
    ofOthers: estimate([ofOthers], mean, sample),
    difference: estimate([ofKind, ofOthers], ([one = 0, other = 0]) => one - other, sample),
  };
}

/** A share of cases. Where all of them are alike the bootstrap sees no spread, and Wilson's interval stands in. */
export function estimateShare(column: Column, sample: Sampler): Estimate | null {
  const found = estimate([column], ([value = 0]) => value, sample);
  if (found === null || (found.value > 0 && found.value < 1)) return found;
  return { ...found, interval: wilsonInterval(found.value, found.n) };
}

/** What columns come to together, with the middle of what it comes to in samples of the cases. */
function estimate(
  columns: readonly Column[],
  combine: (values: readonly number[]) => number,
  sample: Sampler,
): Estimate | null {
  const value = combine(columns.map(ratioOf));
  if (!Number.isFinite(value)) return null;
  const samples = sample(columns);
  const combined = Float64Array.from(samples[0] ?? [], (_, replicate) =>
    combine(samples.map((one) => one[replicate] ?? Number.NaN)),
  );
  const counted = new Set(
    columns.flatMap(({ of }) => Array.from(of.keys()).filter((index) => (of[index] ?? 0) > 0)),
  );
  return { value, interval: counted.size < 2 ? null : percentileInterval(combined), n: counted.size };
}

/** What each case adds; a case for which that is null has no part. */
export function columnOf(ruled: Rulings, adds: (one: Ruled, index: number) => number | null): Column {
  const column = createColumn(ruled.length);
  ruled.forEach((one, index) => {
    const value = one === null ? null : adds(one, index);
    if (value === null) return;
    column.sum[index] = value;
    column.of[index] = 1;
  });
  return column;
}

/** A chance that was given, and whether it came true. */
interface Foretold {
  chance: number;
  came: boolean;
}

const BINS = 5;

/** How chances compare with what came true, by fifths of the scale, and how far they are apart on average. */
export function measureReliability(foretold: readonly Foretold[]) {
  const groups = Map.groupBy(foretold, ({ chance }) => Math.min(BINS - 1, Math.floor(chance * BINS)));
  const bins = Array.from({ length: BINS }, (_, bin) => {
    const inside = groups.get(bin) ?? [];
    const n = inside.length;
    const said = total(Float64Array.from(inside, ({ chance }) => chance)) / n;
    const came = inside.filter((one) => one.came).length / n;
    return { from: bin / BINS, to: (bin + 1) / BINS, n, said, came, interval: wilsonInterval(came, n) };
  }).filter(({ n }) => n > 0);
  const error = bins.reduce((sum, { n, said, came }) => sum + n * Math.abs(said - came), 0) / foretold.length;
  return { error, bins };
}
