import type { CaseRun } from './case-run.ts';
import type { Calibration } from './report-data.ts';

const STEPS = 100;

/** A run that searched: its best score, and whether the documents hold the answer. */
interface ScoredRun {
  score: number;
  answerable: boolean;
}

/**
 * What abstention would be at every threshold from 0 to 1 if an answer were withheld whenever the best score stays
 * below it. Read from the best score that was seen, whatever the threshold in force was.
 */
export function calibrate(
  arm: string,
  current: number,
  cases: readonly { answerable: boolean | null; runs: readonly CaseRun[] }[],
): Calibration {
  const scored = cases.flatMap(({ answerable, runs }): ScoredRun[] => {
    if (answerable === null) return [];
    return runs
      .filter(({ searches, error }) => searches > 0 && error === null)
      .map(({ bestScore }) => ({ score: bestScore ?? 0, answerable }));
  });
  const points =
    scored.length === 0 ? [] : Array.from({ length: STEPS + 1 }, (_, step) => pointAt(step / STEPS, scored));
  const best = points.reduce<Calibration['points'][number] | null>(
    (found, point) => (point.f1 !== null && (found?.f1 ?? -1) < point.f1 ? point : found),
    null,
  );
  return { arm, current, best: best?.threshold ?? null, n: scored.length, points };
}

function pointAt(threshold: number, scored: readonly ScoredRun[]): Calibration['points'][number] {
  let withheld = 0;
  let unanswerable = 0;
  let both = 0;
  for (const { score, answerable } of scored) {
    const withholds = score < threshold;
    if (withholds) withheld += 1;
    if (!answerable) unanswerable += 1;
    if (withholds && !answerable) both += 1;
  }
  const share = (part: number, whole: number) => (whole === 0 ? null : part / whole);
  return {
    threshold,
    precision: share(both, withheld),
    recall: share(both, unanswerable),
    f1: share(2 * both, withheld + unanswerable),
  };
}
