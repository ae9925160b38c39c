/** What each case adds to a metric in one arm, in the order of the cases; both 0 where it has no part. */
export interface Column {
  sum: Float64Array;
  of: Float64Array;
}

export function createColumn(length: number): Column {
  return { sum: new Float64Array(length), of: new Float64Array(length) };
}

/** The metric over all cases; NaN if it divides by nothing. */
export function ratioOf({ sum, of }: Column): number {
  const divisor = total(of);
  return divisor === 0 ? Number.NaN : total(sum) / divisor;
}

export function total(values: Float64Array): number {
  let result = 0;
  for (const value of values) result += value;
  return result;
}

/** A case's own value; null where it has none. */
export function valueAt({ sum, of }: Column, index: number): number | null {
  const divisor = of[index] ?? 0;
  return divisor === 0 ? null : (sum[index] ?? 0) / divisor;
}

/** A column of the cases that pass alone; the others keep their place and add nothing. Itself if none adds anything. */
export function masked(column: Column, keep: (index: number) => boolean): Column {
  const { sum, of } = column;
  if (sum.every((value, index) => keep(index) || (value === 0 && of[index] === 0))) return column;
  return {
    sum: sum.map((value, index) => (keep(index) ? value : 0)),
    of: of.map((value, index) => (keep(index) ? value : 0)),
  };
}
