import { formatP, formatPercent, formatValue, joined, knownValue, timesAsMuch } from './format-value.ts';
import type {
  Arm,
  Comparison,
  MetricComparison,
  MetricInfo,
  MetricValue,
  ReportData,
} from './report-data.ts';

const HEADLINE = 'answer.correct';
const MOST_NAMED = 5;
const QUALITY = new Set<MetricInfo['group']>([
  'answer',
  'retrieval',
  'citation',
  'abstention',
  'decision',
  'judge',
]);

/** What was found, in one line without a full stop: the headline of the page. Only what is proven is claimed. */
export function findingOf({ arms, comparisons, metrics }: ReportData): string {
  const name = arms[0]?.name ?? '';
  const correct = knownValue(arms[0]?.metrics[HEADLINE]);
  if (comparisons.length === 0) {
    return correct === null
      ? `No case says how many answers of ${name} are right`
      : `${name} answers ${countOf(correct)} of ${correct.n} questions correctly`;
  }
  const judged = comparisons.filter(({ metrics }) => metrics.some(({ metric }) => metric === HEADLINE));
  if (judged.length === 0) {
    return `No case says whether ${name} or ${joined(comparisons.map(({ arm }) => arm))} answers better`;
  }
  const proven = (sign: 1 | -1) =>
    judged
      .filter(({ metrics }) =>
        metrics.some(
          ({ metric, significant, difference }) =>
            metric === HEADLINE && significant && Math.sign(difference) === sign,
        ),
      )
      .map(({ arm }) => arm);
  const [better, worse] = [proven(1), proven(-1)];
  const answers = (names: readonly string[]) =>
    `${joined(names)} ${names.length === 1 ? 'answers' : 'answer'}`;
  if (better.length > 0) {
    const others = worse.length > 0 ? `, ${joined(worse)} fewer` : '';
    return `${answers(better)} more questions correctly than ${name}${others}`;
  }
  if (worse.length > 0) return `${answers(worse)} fewer questions correctly than ${name}`;
  const nothing = `${judged.length === 1 ? `${judged[0]?.arm} is not` : 'No arm is'} proven to answer better or worse than ${name}`;
  return `${nothing}${otherFinding(judged, metrics)}`;
}

/** The first thing besides the answers that is proven. */
function otherFinding(comparisons: readonly Comparison[], infos: readonly MetricInfo[]): string {
  for (const { arm, metrics } of comparisons) {
    for (const { metric, significant, difference } of metrics) {
      const info = infos.find(({ id }) => id === metric);
      if (!significant || info === undefined || !QUALITY.has(info.group)) continue;
      const change = difference > 0 === (info.better === 'higher') ? 'better' : 'worse';
      return `, but ${comparisons.length === 1 ? 'it' : arm} is ${change} in ${lowerFirst(info.label)}`;
    }
  }
  return '';
}

/** What one arm reached, in sentences. */
export function verdictOnArm({ name, metrics, errors }: Arm): string[] {
  const correct = knownValue(metrics[HEADLINE]);
  const facts = [
    fact(metrics['retrieval.recall@5'], (value) => `finds ${formatPercent(value)} of the expected sources`),
    fact(
      metrics['citation.precision'],
      (value) => `${formatPercent(value)} of its citations bear the answer out`,
    ),
    fact(metrics['abstention.f1'], (value) => `abstention F1 is ${value.toFixed(2)}`),
  ].filter((text) => text !== null);
  const spent = [
    fact(metrics['cost.tokens'], (value) => `${value.toFixed(0)} tokens`),
    fact(metrics['time.total'], (value) => formatValue(value, 'ms')),
  ].filter((text) => text !== null);
  return [
    correct === null
      ? `No case says what is right, so it is not known how many answers of ${name} are.`
      : `${name} answers ${countOf(correct)} of ${correct.n} questions correctly (${percentWithInterval(correct)}).`,
    ...(facts.length > 0 ? [`It ${joined(facts)}.`.replace(/^It (\d|abst)/, 'There, $1')] : []),
    ...(spent.length > 0 ? [`A turn takes ${spent.join(' and ')}.`] : []),
    ...(errors > 0 ? [`${errors} ${errors === 1 ? 'run' : 'runs'} ended in an error.`] : []),
  ];
}

/** What sets an arm apart from the first, the most important first. */
export function verdictOnPair(
  baseline: Arm,
  arm: Arm,
  compared: readonly MetricComparison[],
  metrics: readonly MetricInfo[],
): string[] {
  const headline = compared.find(({ metric }) => metric === HEADLINE);
  const info = (id: string) => metrics.find((metric) => metric.id === id);
  const others = compared.filter(
    ({ metric, significant }) =>
      metric !== HEADLINE && significant && QUALITY.has(info(metric)?.group ?? 'time'),
  );
  return [
    headline === undefined
      ? `No case says what is right in both arms, so ${arm.name} and ${baseline.name} cannot be compared by their answers.`
      : sentenceOn(headline, baseline, arm),
    ...others
      .slice(0, MOST_NAMED)
      .map((comparison) => otherSentence(comparison, info(comparison.metric), baseline, arm)),
  ];
}

function sentenceOn(headline: MetricComparison, baseline: Arm, arm: Arm): string {
  const { n, better, worse, p, adjustedP, significant } = headline;
  const net = better.length - worse.length;
  const price = priceOf(baseline, arm);
  const differing = [...better, ...worse];
  if (differing.length === 0) {
    return `${arm.name} and ${baseline.name} answer the same ${n} questions alike${price === null ? '' : `, ${arm.name} ${price}`}.`;
  }
  const where = `; they differ on ${named(differing)}`;
  if (significant) {
    const how = net > 0 ? 'more' : 'fewer';
    return `${arm.name} answers ${Math.abs(net)} of ${n} ${how} questions correctly than ${baseline.name} (${formatP(adjustedP)})${price === null ? '' : ` ${price}`}${where}.`;
  }
  const doubt =
    p < 0.05
      ? `${formatP(p)}, but ${formatP(adjustedP).slice(4)} after correction for several metrics`
      : formatP(p);
  const gained = `${arm.name} gets ${better.length} right that ${baseline.name} gets wrong, and ${worse.length} the other way round`;
  return `No difference in correct answers is proven between ${arm.name} and ${baseline.name} on ${n} questions (${doubt}): ${gained}${price === null ? '' : `, ${price}`}${where}.`;
}

function otherSentence(
  { metric, difference, adjustedP }: MetricComparison,
  info: MetricInfo | undefined,
  baseline: Arm,
  arm: Arm,
): string {
  const before = knownValue(baseline.metrics[metric]);
  const after = knownValue(arm.metrics[metric]);
  const isBetter = difference > 0 === (info?.better === 'higher');
  const unit = info?.unit ?? 'number';
  const change =
    before === null || after === null
      ? ''
      : `, ${formatValue(before.value, unit)} to ${formatValue(after.value, unit)}`;
  return `${arm.name} is ${isBetter ? 'better' : 'worse'} in ${lowerFirst(info?.label ?? metric)}${change} (${formatP(adjustedP)}).`;
}

/** Which arm to take, if that can be said: the one with most correct answers that is proven better, or the cheapest of equals. */
export function recommendation(arms: readonly Arm[], comparisons: readonly Comparison[]): string | null {
  const [first] = arms;
  if (first === undefined || comparisons.length === 0 || knownValue(first.metrics[HEADLINE]) === null)
    return null;
  const headlineOf = (name: string) =>
    comparisons.find(({ arm }) => arm === name)?.metrics.find(({ metric }) => metric === HEADLINE);
  const proven = arms
    .filter(({ name }) => {
      const headline = headlineOf(name);
      return headline?.significant === true && headline.difference > 0;
    })
    .sort((a, b) => (headlineOf(b.name)?.difference ?? 0) - (headlineOf(a.name)?.difference ?? 0))[0];
  if (proven !== undefined)
    return `Take ${proven.name}: it answers more questions correctly than ${first.name}.`;
  const equals = arms.filter((arm) => arm === first || headlineOf(arm.name)?.significant === false);
  const cheapest = equals.toSorted((a, b) => tokensOf(a) - tokensOf(b))[0] ?? first;
  if (equals.length === 1) return `Keep ${first.name}: every other arm answers fewer questions correctly.`;
  if (cheapest === first)
    return `Keep ${first.name}: no other arm is proven to answer more questions, and none takes fewer tokens.`;
  return `Nothing proves that ${first.name} answers more questions than ${cheapest.name}, which takes ${share(tokensOf(cheapest), tokensOf(first))} of the tokens: take ${cheapest.name}, unless more cases tell them apart.`;
}

function share(part: number, whole: number): string {
  return formatPercent(whole > 0 ? part / whole : 1);
}

function tokensOf({ metrics }: Arm): number {
  return knownValue(metrics['cost.tokens'])?.value ?? 0;
}

function priceOf(baseline: Arm, arm: Arm): string | null {
  const before = knownValue(baseline.metrics['cost.tokens']);
  const after = knownValue(arm.metrics['cost.tokens']);
  const times = before === null || after === null ? null : timesAsMuch(after.value, before.value);
  return times === null ? null : `for ${times} tokens`;
}

function fact(value: MetricValue | undefined, say: (value: number) => string): string | null {
  const found = knownValue(value);
  return found === null ? null : say(found.value);
}

function countOf({ value, n }: { value: number; n: number }): string {
  const count = value * n;
  return Math.abs(count - Math.round(count)) < 1e-6 ? String(Math.round(count)) : count.toFixed(1);
}

function percentWithInterval({
  value,
  interval,
}: {
  value: number;
  interval: [number, number] | null;
}): string {
  const range =
    interval === null
      ? ''
      : `, 95 % interval ${Math.round(interval[0] * 100)} to ${formatPercent(interval[1])}`;
  return `${formatPercent(value)}${range}`;
}

function named(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMED;
  return more > 0 ? `${ids.slice(0, MOST_NAMED).join(', ')} and ${more} more` : joined(ids);
}

function lowerFirst(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}
