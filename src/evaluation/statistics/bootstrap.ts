import { createSamplingUnits, type MetricColumn, type SamplingUnits, sumByUnit } from './metric-column.ts';
import { createRandomIndex } from './random-index.ts';

/** Gives interval bounds to about two digits. */
const REPLICATES = 4000;
const MIN_DEFINED_SHARE = 0.95;

/**
 * The ratio of every column in each of many samples of the units, drawn with replacement. NaN if a
 * sample has nothing to divide by.
 */
export function bootstrapColumns(
  columns: readonly MetricColumn[],
  seed: number,
  replicates = REPLICATES,
  { unitOf, count }: SamplingUnits = createSamplingUnits(columns[0]?.sum.length ?? 0),
): Float64Array[] {
  const random = createRandomIndex(seed);
  const units = columns.map((column) => sumByUnit(column, { unitOf, count }));
  const ratios = columns.map(() => new Float64Array(replicates));
  const drawn = new Uint16Array(count);
  for (let replicate = 0; replicate < replicates; replicate += 1) {
    for (let index = 0; index < count; index += 1) drawn[index] = random(count);
    for (let column = 0; column < units.length; column += 1) {
      const { sum, of } = units[column] as MetricColumn;
      let numerator = 0;
      let denominator = 0;
      for (let index = 0; index < count; index += 1) {
        const unit = drawn[index] as number;
        numerator += sum[unit] as number;
        denominator += of[unit] as number;
      }
      (ratios[column] as Float64Array)[replicate] = numerator / denominator;
    }
  }
  return ratios;
}

/** The central interval of the samples; null if too many of them are undefined. */
export function percentileInterval(samples: Float64Array, level = 0.95): [number, number] | null {
  const defined = samples.filter((sample) => Number.isFinite(sample)).sort();
  if (defined.length < samples.length * MIN_DEFINED_SHARE || defined.length === 0) return null;
  const at = (share: number) => defined[Math.round(share * (defined.length - 1))] as number;
  return [at((1 - level) / 2), at((1 + level) / 2)];
}
