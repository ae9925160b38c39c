import { counted } from '../../text/phrasing.ts';
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
  const same = `${title} says the same as people on ${formatPercent(agreement.value)}${range} of ${counted(ruled, 'label')}`;
  return `${same}: ${beyondChance(kappa)}.`;
}

/** How much of it is more than chance, as far as the interval bears it out. */
function beyondChance(kappa: Estimate | null): string {
  if (kappa === null) return 'kappa cannot be told, since all is of one kind';
  const { value, interval } = kappa;
  const range = interval === null ? '' : ` (${twoDigits(interval[0])} to ${twoDigits(interval[1])})`;
  const figure = `kappa ${twoDigits(value)}${range}`;
  if (interval === null) return `agreement beyond chance is not shown, ${figure} of too few labels`;
  const [low, high] = interval;
  if (high < 0) return `less than chance would do, ${figure}`;
  if (low <= 0) return `agreement beyond chance is not shown, the interval of ${figure} reaches 0`;
  const [least, most] = [strengthOf(low), strengthOf(high)];
  return `${least === most ? least : `${least} to ${most}`} agreement, ${figure}`;
}

/** Never "-0.00", which is a sign of nothing. */
function twoDigits(value: number): string {
  return value.toFixed(2).replace(/^-(0\.00)$/, '$1');
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
  if (more === 0) return `${names} are right and wrong on the same labels.`;
  if (p >= SIGNIFICANT)
    return `${names} part on ${counted(more + less, 'label')}; that one is right more often is not proven (${formatP(p)}).`;
  return `${names} part on ${counted(more + less, 'label')}; ${JUDGE_TITLES[better].toLowerCase()} is right on ${more} of them (${formatP(p)}).`;
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
  const range = interval === null ? '' : ` (${twoDigits(interval[0])} to ${twoDigits(interval[1])})`;
  return `${twoDigits(value)}${range}`;
}
