import { createRandomIndex, shuffle } from './random-index.ts';

/** What each case adds to a metric in one arm, in the order of the cases; both are 0 for a case that does not count. */
export interface MetricColumn {
  sum: Float64Array;
  of: Float64Array;
}

export function createColumn(length: number): MetricColumn {
  return { sum: new Float64Array(length), of: new Float64Array(length) };
}

/** The metric over all cases; NaN if no case counts. */
export function columnRatio({ sum, of }: MetricColumn): number {
  const divisor = sumValues(of);
  return divisor === 0 ? Number.NaN : sumValues(sum) / divisor;
}

export function sumValues(values: Float64Array): number {
  let result = 0;
  for (const value of values) result += value;
  return result;
}

/** The value of one case; null if it does not count. */
export function caseValueAt({ sum, of }: MetricColumn, index: number): number | null {
  const divisor = of[index] ?? 0;
  return divisor === 0 ? null : (sum[index] ?? 0) / divisor;
}

/** The column with the other cases set to 0. */
export function filterColumn({ sum, of }: MetricColumn, keep: (index: number) => boolean): MetricColumn {
  return {
    sum: sum.map((value, index) => (keep(index) ? value : 0)),
    of: of.map((value, index) => (keep(index) ? value : 0)),
  };
}

/** More clusters than this are merged in random groups of equal size, which bounds the time and keeps the variance. */
const MAX_UNITS = 500;
const GROUPING_SEED = 1;

/** What is resampled: clusters of dependent cases, such as the turns of one conversation. */
export interface SamplingUnits {
  /** The unit of each case, from 0. */
  unitOf: Uint32Array;
  count: number;
  /** The number of clusters before they are merged in groups. */
  clusters: number;
}

/** One unit per distinct name in the list, or per case if a number of independent cases is given. */
export function createSamplingUnits(cases: number | readonly string[]): SamplingUnits {
  const names =
    typeof cases === 'number' ? Array.from({ length: cases }, (_, index) => String(index)) : cases;
  const clusterOf = new Map([...new Set(names)].map((name, index) => [name, index]));
  const clusters = clusterOf.size;
  const groupOf = clusters > MAX_UNITS ? groupRandomly(clusters) : null;
  const unitOf = Uint32Array.from(names, (name) => {
    const cluster = clusterOf.get(name) as number;
    return groupOf === null ? cluster : (groupOf[cluster] as number);
  });
  return { unitOf, count: Math.min(clusters, MAX_UNITS), clusters };
}

function groupRandomly(count: number): Uint32Array {
  const order = shuffle([...Array(count).keys()], createRandomIndex(GROUPING_SEED));
  const groupOf = new Uint32Array(count);
  order.forEach((cluster, position) => {
    groupOf[cluster] = position % MAX_UNITS;
  });
  return groupOf;
}

/** A column of units, each the sum of its cases. */
export function sumByUnit(
  { sum, of }: MetricColumn,
  { unitOf, count }: Pick<SamplingUnits, 'unitOf' | 'count'>,
): MetricColumn {
  const units = createColumn(count);
  unitOf.forEach((unit, index) => {
    units.sum[unit] = (units.sum[unit] as number) + (sum[index] as number);
    units.of[unit] = (units.of[unit] as number) + (of[index] as number);
  });
  return units;
}
