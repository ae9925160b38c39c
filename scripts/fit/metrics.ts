/** A labelled case with its predicted chance and weight. */
export interface Scored {
  positive: boolean;
  chance: number;
  weight: number;
}

/** The area under the ROC curve. */
export function areaUnderCurve(cases: readonly Scored[]): number {
  const sorted = cases.toSorted((a, b) => a.chance - b.chance);
  let below = 0;
  let won = 0;
  let positives = 0;
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    let tiedPositives = 0;
    let tiedNegatives = 0;
    while (end < sorted.length && sorted[end]?.chance === sorted[start]?.chance) {
      if (sorted[end]?.positive) tiedPositives += 1;
      else tiedNegatives += 1;
      end += 1;
    }
    won += tiedPositives * (below + tiedNegatives / 2);
    positives += tiedPositives;
    below += tiedNegatives;
    start = end;
  }
  return won / (positives * below);
}

/** The mean of sensitivity and specificity at a chance of 0.5. */
export function balancedAccuracy(cases: readonly Pick<Scored, 'positive' | 'chance'>[], bar = 0.5): number {
  const right = (positive: boolean) => {
    const ofKind = cases.filter((one) => one.positive === positive);
    return ofKind.filter(({ chance }) => chance >= bar === positive).length / ofKind.length;
  };
  return (right(true) + right(false)) / 2;
}

const BINS = 10;

/** The expected calibration error over ten bins of equal size. */
export function calibrationError(cases: readonly Scored[]): number {
  const sorted = cases.toSorted((a, b) => a.chance - b.chance);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  let error = 0;
  let at = 0;
  for (let bin = 1; bin <= BINS; bin += 1) {
    let weight = 0;
    let said = 0;
    let came = 0;
    let seen = sorted.slice(0, at).reduce((sum, one) => sum + one.weight, 0);
    while (at < sorted.length && (bin === BINS || seen < (total * bin) / BINS)) {
      const one = sorted[at] as Scored;
      weight += one.weight;
      said += one.weight * one.chance;
      came += one.positive ? one.weight : 0;
      seen += one.weight;
      at += 1;
    }
    error += Math.abs(said - came) / total;
    if (weight === 0) break;
  }
  return error;
}
