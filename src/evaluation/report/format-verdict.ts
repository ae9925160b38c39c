import { formatCount, quoteName } from '../../text/format-count.ts';
import {
  formatConclusion,
  formatMetricValue,
  formatPercent,
  formatPoints,
  formatPValue,
  HEADLINE_METRIC,
  joinWords,
  toKnownValue,
} from './format-metric.ts';
import { findHeadline, findStanding } from './recommend-arm.ts';
import type {
  ArmComparison,
  MetricComparison,
  Recommendation,
  ReportArm,
  ReportData,
} from './report-data.ts';

/* Sentences about typed conclusions. No function here concludes anything itself. */

type Compared = Omit<ArmComparison, 'verdict'>;

/** The result in one line without a full stop: the title of the page. */
export function formatFinding({
  arms,
  decision,
  kind,
}: Pick<ReportData, 'arms' | 'decision' | 'kind'>): string {
  if (kind === 'evaluation') return correctAnswers(arms[0] as ReportArm);
  if (decision === null) return 'No case defines a correct answer';
  const names = joinWords(decision.arms.map(quoteName));
  return {
    use: `Use ${names}`,
    either: `Use any of ${names}`,
    weigh: `Choose between ${names}`,
    undecided: `Undecided between ${names}`,
  }[decision.kind];
}

/** A single arm in sentences. */
export function formatArmVerdict({ name, metrics, errors }: ReportArm): string[] {
  const correct = toKnownValue(metrics[HEADLINE_METRIC]);
  const range = correct?.interval;
  const interval = range ? `, 95% interval ${Math.round(range[0] * 100)} to ${formatPercent(range[1])}` : '';
  const share = correct === null ? '' : ` (${formatPercent(correct.value)}${interval})`;
  return [
    `${correctAnswers({ name, metrics })}${share}.`,
    ...(errors > 0 ? [`${formatCount(errors, 'run')} failed.`] : []),
  ];
}

function correctAnswers({ name, metrics }: Pick<ReportArm, 'name' | 'metrics'>): string {
  const correct = toKnownValue(metrics[HEADLINE_METRIC]);
  if (correct === null) return 'No case defines a correct answer';
  const answered = Number((correct.value * correct.n).toFixed(1));
  return `${quoteName(name)} answers ${answered} of ${formatCount(correct.n, 'question')} correctly`;
}

type RecommendationInput = Pick<ReportData, 'arms' | 'comparisons'> & {
  header: Pick<ReportData['header'], 'margin'>;
};

/** The recommendation in a few sentences. */
export function formatRecommendation(
  decision: Recommendation,
  { arms, comparisons, header: { margin } }: RecommendationInput,
): string {
  const { kind, arms: left, needed } = decision;
  const names = arms.map(({ name }) => name);
  const finding = formatFinding({ arms, decision, kind: 'comparison' });
  const within = `within ${formatPoints(margin)}`;
  const beaten = names.filter((name) => !left.includes(name));
  const excluded = beaten.length === 0 ? '' : ` Beaten: ${joinWords(beaten.map(quoteName))}.`;
  const prices = formatPrices(left, arms);
  switch (kind) {
    case 'use':
      return `${finding}: ${joinWords(formatReasons(left[0] ?? '', comparisons, within))}.${formatPrices(names, arms)}`;
    case 'either':
      return `${finding}: they answer as many questions correctly, ${within}, and no other difference is proven.${prices}${excluded}`;
    case 'weigh':
      return `${finding}: they answer as many questions correctly, ${within}, and differ otherwise.${prices}${excluded}`;
    case 'undecided':
      return `${finding}: ${
        needed === null
          ? 'more cases would hardly decide it'
          : `about ${formatCount(needed, 'more case')} like these would decide it`
      }.${prices}${excluded}`;
  }
}

/** What is proven about an arm and each other arm. Arms that others beat may be undecided against this one. */
function formatReasons(arm: string, comparisons: readonly ArmComparison[], within: string): string[] {
  const others = [...new Set(comparisons.flatMap((one) => [one.baseline, one.arm]))].filter(
    (name) => name !== arm,
  );
  const groups = Map.groupBy(others, (other) => findStanding(arm, other, comparisons)?.answers ?? null);
  const namesOf = (answers: MetricComparison['conclusion']) => (groups.get(answers) ?? []).map(quoteName);
  const p = (other: string) => {
    const compared = comparisons.find((one) =>
      [one.arm, one.baseline].every((name) => [arm, other].includes(name)),
    );
    return findHeadline(compared?.metrics ?? [])?.adjustedP ?? 0;
  };
  const largestP = Math.max(0, ...(groups.get('better') ?? []).map(p));
  const gains = [...new Set(others.flatMap((other) => findStanding(arm, other, comparisons)?.gains ?? []))];
  const labels = { 'abstention.recall': 'declines more unanswerable ones', 'time.total': 'is faster' };
  const open = [...namesOf('undecided'), ...namesOf('too few')];
  return [
    ...(namesOf('better').length > 0
      ? [
          `it answers more questions correctly than ${joinWords(namesOf('better'))} (${formatPValue(largestP)})`,
        ]
      : []),
    ...(namesOf('equivalent').length > 0
      ? [
          `it answers as many as ${joinWords(namesOf('equivalent'))}, ${within}, and ${joinWords(
            gains.map((id) => labels[id as keyof typeof labels] ?? 'costs less'),
          )}`,
        ]
      : []),
    ...(open.length > 0
      ? [`${joinWords(open)} ${open.length === 1 ? 'is' : 'are'} beaten by another arm`]
      : []),
  ];
}

/** Money if every arm has a price, else tokens. */
function findPrices(arms: readonly ReportArm[]): { unit: 'money' | 'tokens'; values: Map<string, number> } {
  const valuesOf = (id: string) =>
    new Map(arms.flatMap(({ name, metrics }) => [[name, toKnownValue(metrics[id])?.value ?? 0] as const]));
  const money = valuesOf('cost.money');
  return [...money.values()].every((value) => value > 0)
    ? { unit: 'money', values: money }
    : { unit: 'tokens', values: valuesOf('cost.tokens') };
}

/** " Tokens per answer: 810 (“tool”), 420 (“always”)." */
function formatPrices(names: readonly string[], arms: readonly ReportArm[]): string {
  const { unit, values } = findPrices(arms);
  if (names.every((name) => (values.get(name) ?? 0) === 0)) return '';
  const prices = names.map(
    (name) => `${formatMetricValue(values.get(name) ?? 0, unit)} (${quoteName(name)})`,
  );
  return ` ${unit === 'money' ? 'Price' : 'Tokens'} per answer: ${prices.join(', ')}.`;
}

/** The correct answers of two arms in one sentence. */
export function formatPairVerdict({ arm: armName, baseline: baselineName, metrics }: Compared): string {
  const [first, other] = [quoteName(baselineName), quoteName(armName)];
  const headline = findHeadline(metrics);
  if (headline === undefined) return `No case can be judged in both ${other} and ${first}.`;
  const { n, better, worse, conclusion, adjustedP } = headline;
  const net = better.length - worse.length;
  const result =
    net === 0
      ? 'as many correct answers as'
      : `${formatCount(Math.abs(net), `${net > 0 ? 'more' : 'fewer'} correct answer`)} than`;
  const p = adjustedP === null ? '' : `, ${formatPValue(adjustedP)}`;
  const split = `only ${other} right: ${better.length}, only ${first} right: ${worse.length}`;
  return `${other} has ${result} ${first} on ${formatCount(n, 'case')} (${split}): ${formatConclusion(conclusion)}${p}.`;
}
