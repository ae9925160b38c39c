import { type Column, createColumn } from './column.ts';
import { createRandomIndex } from './random.ts';

/**
 * More units than this are put together in random groups of equal size: the spread of a sum over them is the same,
 * and the time no longer grows with the cases.
 */
const MOST_UNITS = 500;
const GROUPING_SEED = 1;

/** What samples are drawn of. Cases of one conversation are one unit: they are right and wrong together. */
export interface Units {
  /** The unit of each case, from 0. */
  unitOf: Uint32Array;
  count: number;
  /** How many clusters there are, before they are put together in groups. */
  clusters: number;
}

/** A unit for each case, or for each name where cases are named by the cluster that they belong to. */
export function unitsOf(cases: number | readonly string[]): Units {
  const length = typeof cases === 'number' ? cases : cases.length;
  const named = typeof cases === 'number' ? null : numbered(cases);
  const clusters = named?.count ?? length;
  const groupOf = clusters > MOST_UNITS ? randomGroups(clusters) : undefined;
  return {
    unitOf: Uint32Array.from({ length }, (_, index) => {
      const cluster = named?.numbers[index] ?? index;
      return groupOf?.[cluster] ?? cluster;
    }),
    count: Math.min(clusters, MOST_UNITS),
    clusters,
  };
}

/** A column of units, each the sum of its cases. */
export function gathered({ sum, of }: Column, { unitOf, count }: Pick<Units, 'unitOf' | 'count'>): Column {
  const units = createColumn(count);
  unitOf.forEach((unit, index) => {
    units.sum[unit] = (units.sum[unit] as number) + (sum[index] as number);
    units.of[unit] = (units.of[unit] as number) + (of[index] as number);
  });
  return units;
}

function numbered(names: readonly string[]): { numbers: number[]; count: number } {
  const known = new Map<string, number>();
  const numbers = names.map((name) => {
    const number = known.get(name) ?? known.size;
    known.set(name, number);
    return number;
  });
  return { numbers, count: known.size };
}

function randomGroups(count: number): Uint32Array {
  const random = createRandomIndex(GROUPING_SEED);
  const order = Uint32Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last -= 1) {
    const other = random(last + 1);
    [order[last], order[other]] = [order[other] as number, order[last] as number];
  }
  const groupOf = new Uint32Array(count);
  order.forEach((cluster, position) => {
    groupOf[cluster] = position % MOST_UNITS;
  });
  return groupOf;
}
