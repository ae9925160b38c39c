import { formatP, formatPercent } from '../report/format-value.ts';
import type { Estimate } from '../statistics/agreement.ts';
import type { CalibrationData, JudgeFigures, JudgeName } from './calibration-data.ts';

/** What a judge is called in a sentence. */
export const JUDGE_TITLES: Record<JudgeName, string> = {
  check: 'The check',
  words: 'The check by words alone',
  model: 'The model',
};

const SIGNIFICANT = 0.05;
const WITHOUT_ENCODER =
  'The check with its encoder was not measured: the embedder is a service, which gives no vectors of single words.';

/** What was found, the most important first, one sentence each. */
export function findingsOf(
  judges: readonly JudgeFigures[],
  comparisons: CalibrationData['comparisons'],
): string[] {
  return [
    ...judges.map(agreementOf),
    ...(judges.some(({ name }) => name === 'check') ? [] : [WITHOUT_ENCODER]),
    ...judges.flatMap(({ name, bias }) => bias.map((one) => leanOf(name, one))),
    ...comparisons.map(differenceOf),
  ];
}

function agreementOf({ name, agreement, kappa, ruled }: JudgeFigures): string {
  const title = JUDGE_TITLES[name];
  if (agreement === null) return `${title} ruled on nothing.`;
  const range =
    agreement.interval === null
      ? ''
      : ` (${formatPercent(agreement.interval[0])} to ${formatPercent(agreement.interval[1])})`;
  const beyond =
    kappa === null
      ? 'kappa cannot be told, since all is of one kind'
      : `kappa ${kappa.value.toFixed(2)}, ${strengthOf(kappa.value)} agreement`;
  return `${title} agrees with people on ${formatPercent(agreement.value)}${range} of ${ruled} labels: ${beyond}.`;
}

/** By the names of Landis and Koch. */
function strengthOf(kappa: number): string {
  const bounds: [number, string][] = [
    [0, 'no'],
    [0.2, 'slight'],
    [0.4, 'fair'],
    [0.6, 'moderate'],
    [0.8, 'substantial'],
  ];
  return bounds.find(([bound]) => kappa <= bound)?.[1] ?? 'nearly perfect';
}

function leanOf(name: JudgeName, { towards, difference }: JudgeFigures['bias'][number]): string {
  const title = JUDGE_TITLES[name];
  if (difference?.interval == null)
    return `${title}: too few labels to tell a bias towards ${towards} claims.`;
  const [low, high] = difference.interval;
  const points = `${(Math.abs(difference.value) * 100).toFixed(0)} points`;
  if (low > 0) return `${title} favours ${towards} claims, by ${points} against people.`;
  if (high < 0) return `${title} is harder on ${towards} claims, by ${points} against people.`;
  return `${title} shows no bias towards ${towards} claims that these labels could prove.`;
}

function differenceOf({
  first,
  second,
  onlyFirstRight,
  onlySecondRight,
  p,
}: CalibrationData['comparisons'][number]): string {
  const better = onlyFirstRight > onlySecondRight ? first : second;
  const [more, less] = [Math.max(onlyFirstRight, onlySecondRight), Math.min(onlyFirstRight, onlySecondRight)];
  const names = `${JUDGE_TITLES[first]} and ${JUDGE_TITLES[second].toLowerCase()}`;
  if (p >= SIGNIFICANT)
    return `${names} part on ${more + less} labels; that one is right more often is not proven (${formatP(p)}).`;
  return `${names} part on ${more + less} labels; ${JUDGE_TITLES[better].toLowerCase()} is right on ${more} of them (${formatP(p)}).`;
}

/** The figures of a judge by what they are called, in order. */
export function namedFigures(judge: JudgeFigures): [string, Estimate | null][] {
  return [
    ['Agreement', judge.agreement],
    ["Cohen's kappa", judge.kappa],
    ['Precision of supported', judge.precision],
    ['Recall of supported', judge.recall],
    ['Balanced accuracy', judge.balancedAccuracy],
    ['False alarms', judge.falseAlarms],
    ...judge.bias.map(({ towards, difference }): [string, Estimate | null] => [
      `Bias to ${towards} claims`,
      difference,
    ]),
  ];
}

/** A value with its interval, as people read it. */
export function formatEstimate(estimate: Estimate | null): string {
  if (estimate === null) return 'no data';
  const { value, interval } = estimate;
  const range = interval === null ? '' : ` (${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`;
  return `${value.toFixed(2)}${range}`;
}
