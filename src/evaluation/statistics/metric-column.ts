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

/** What is resampled: clusters of dependent cases, such as the turns of one conversation. */
export interface SamplingUnits {
  /** The cluster of each case, from 0. */
  unitOf: Uint32Array;
  clusters: number;
}

/** One unit per distinct name in the list. */
export function createSamplingUnits(names: readonly string[]): SamplingUnits {
  const clusterOf = new Map([...new Set(names)].map((name, index) => [name, index]));
  return {
    unitOf: Uint32Array.from(names, (name) => clusterOf.get(name) as number),
    clusters: clusterOf.size,
  };
}

/** A column of units, each the sum of its cases. */
export function sumByUnit({ sum, of }: MetricColumn, { unitOf, clusters }: SamplingUnits): MetricColumn {
  const units = createColumn(clusters);
  unitOf.forEach((unit, index) => {
    units.sum[unit] = (units.sum[unit] as number) + (sum[index] as number);
    units.of[unit] = (units.of[unit] as number) + (of[index] as number);
  });
  return units;
}
