import { counted, quoted } from '../../text/phrasing.ts';
import { HEADLINE } from '../statistics/compare-columns.ts';
import type { Comparison, Decision, MetricComparison } from './comparison.ts';
import { answersOf, priceMetric } from './decide.ts';
import {
  formatP,
  formatPercent,
  formatPoints,
  formatValue,
  joined,
  knownValue,
  timesAsMuch,
} from './format-value.ts';
import type { MetricInfo, MetricValue } from './metric-value.ts';
import type { Arm, ReportData } from './report-data.ts';

/* Sentences about what was found are made of typed conclusions; nothing is concluded here. */

const MOST_NAMED = 5;
const EFFORT = new Set<MetricInfo['group']>(['effort', 'cost', 'time']);

type Compared = Omit<Comparison, 'verdict'>;

/** What sentences about several arms are made of. */
export interface Findings extends Pick<ReportData, 'arms' | 'metrics' | 'decision'> {
  comparisons: readonly Compared[];
  header: Pick<ReportData['header'], 'margin' | 'currency'>;
}

/** What was found, in one line without a full stop: the headline of the page. Only what is proven is claimed. */
export function findingOf({ arms, comparisons }: Pick<Findings, 'arms' | 'comparisons'>): string {
  const name = quoted(arms[0]?.name ?? '');
  const correct = knownValue(arms[0]?.metrics[HEADLINE]);
  if (comparisons.length === 0) {
    return correct === null
      ? `No case says how many answers of ${name} are right`
      : `${name} answers ${countOf(correct)} of ${counted(correct.n, 'question')} correctly`;
  }
  const judged = comparisons.filter(({ standing }) => standing.answers !== null);
  if (judged.length === 0) {
    return `No case says whether ${name} or ${joined(comparisons.map(({ arm }) => quoted(arm)))} answers better`;
  }
  const named = (...conclusions: MetricComparison['conclusion'][]) =>
    judged
      .filter(({ standing }) => conclusions.some((one) => one === standing.answers))
      .map(({ arm }) => quoted(arm));
  const [better, worse, equal, open] = [
    named('better'),
    named('worse'),
    named('equivalent'),
    named('undecided', 'too few'),
  ];
  const answers = (names: readonly string[]) =>
    `${joined(names)} ${names.length === 1 ? 'answers' : 'answer'}`;
  if (better.length > 0) {
    const others = worse.length > 0 ? `, ${joined(worse)} fewer` : '';
    return `${answers(better)} more questions correctly than ${name}${others}`;
  }
  const found = [
    ...(equal.length > 0 ? [`${answers(equal)} as many questions correctly as ${name}`] : []),
    ...(worse.length > 0
      ? [
          equal.length > 0
            ? `${joined(worse)} fewer`
            : `${answers(worse)} fewer questions correctly than ${name}`,
        ]
      : []),
    ...(open.length > 0
      ? [
          equal.length + worse.length > 0
            ? `${joined(open)} ${open.length === 1 ? 'is' : 'are'} not decided`
            : `These cases do not decide between ${joined([name, ...open])}`,
        ]
      : []),
  ];
  return found.join('; ');
}

/** What one arm reached, in sentences. */
export function verdictOnArm({ name, metrics, errors }: Arm): string[] {
  const arm = quoted(name);
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
      ? `No case says what is right, so it is not known how many answers of ${arm} are.`
      : `${arm} answers ${countOf(correct)} of ${counted(correct.n, 'question')} correctly (${percentWithInterval(correct)}).`,
    ...(facts.length > 0 ? [`It ${joined(facts)}.`.replace(/^It (\d|abst)/, 'There, $1')] : []),
    ...(spent.length > 0 ? [`A turn takes ${spent.join(' and ')}.`] : []),
    ...(errors > 0 ? [`${counted(errors, 'run')} ended in an error.`] : []),
  ];
}

/** What to do, and what these cases leave open about it; null where nothing is judged. */
export function sentenceOnDecision(findings: Findings): string | null {
  const advice = adviceOf(findings);
  return advice === null ? null : `${advice}${leftOpen(findings)}`;
}

/** What else counts, and is proven neither way, of the arms that the decision is about. */
function leftOpen({ decision, comparisons, metrics }: Findings): string {
  if (decision === null || decision.kind === 'undecided') return '';
  const about =
    decision.kind === 'keep' ? comparisons : comparisons.filter(({ arm }) => decision.arms.includes(arm));
  const open = new Set(about.flatMap(({ standing }) => standing.undecided));
  const labels = metrics.flatMap(({ id, label }) => (open.has(id) ? [lowerFirst(label)] : []));
  return labels.length === 0 ? '' : ` Not decided by these cases: ${joined(labels)}.`;
}

function adviceOf(findings: Findings): string | null {
  const { decision, arms, comparisons, header } = findings;
  const first = quoted(arms[0]?.name ?? '');
  if (decision === null) return null;
  const about = comparisons.find(({ arm }) => arm === decision.arms[0]);
  const equally = `as many questions correctly as ${first}, within ${formatPoints(header.margin)}`;
  switch (decision.kind) {
    case 'take': {
      const taken = about as Compared;
      const { gains, losses, answers } = taken.standing;
      const price = losses.length === 0 ? '' : `, if it may be ${changes(losses, taken, findings)}`;
      const reason =
        answers === 'better'
          ? `it answers more questions correctly than ${first} (${formatP(answersOf(taken.metrics)?.adjustedP ?? null)})`
          : `it answers ${equally}`;
      const besides = gains.length === 0 ? '' : `, and is ${changes(gains, taken, findings)}`;
      return `Take ${quoted(taken.arm)}${price}: ${reason}${besides}.`;
    }
    case 'keep':
      return `Keep ${first}: ${keptBecause(findings)}.`;
    case 'either':
      return `Take either: ${joined(decision.arms.map(quoted))} ${decision.arms.length === 1 ? 'answers' : 'answer'} ${equally}, and nothing else that matters is proven to set them apart.`;
    case 'weigh': {
      const mixed = about as Compared;
      const { gains, losses } = mixed.standing;
      return `Weigh ${quoted(mixed.arm)} against ${first}: it answers ${equally}, is ${changes(gains, mixed, findings)}, but ${changes(losses, mixed, findings)}.`;
    }
    case 'undecided':
      return `Not decided by these cases: ${first} or ${joined(decision.arms.map(quoted))}. ${moreCases(decision)}`;
  }
}

function moreCases({ needed }: Pick<Decision, 'needed'>): string {
  return needed === null
    ? 'More of them would hardly decide it.'
    : `About ${counted(needed, 'more case')} like these would decide it.`;
}

function keptBecause(findings: Findings): string {
  const worse = findings.comparisons.filter(({ standing }) => standing.answers === 'worse');
  const dearer = findings.comparisons.filter(({ standing }) => standing.answers === 'equivalent');
  if (dearer.length === 0) return 'every other arm answers fewer questions correctly';
  return joined([
    ...(worse.length > 0
      ? [
          `${joined(worse.map(({ arm }) => quoted(arm)))} ${worse.length === 1 ? 'answers' : 'answer'} fewer questions correctly`,
        ]
      : []),
    ...dearer.map(
      (one) => `${quoted(one.arm)} answers as many, but is ${changes(one.standing.losses, one, findings)}`,
    ),
  ]);
}

/** "cheaper (0.5 times the tokens) and better in over-search (1.000 to 0.000)" */
function changes(ids: readonly string[], { arm, metrics }: Compared, findings: Findings): string {
  return joined(
    ids.map((id) => {
      const info = findings.metrics.find((metric) => metric.id === id);
      const [before, after] = [findings.arms[0], findings.arms.find(({ name }) => name === arm)].map(
        (one) => knownValue(one?.metrics[id])?.value ?? 0,
      ) as [number, number];
      const isBetter = metrics.find(({ metric }) => metric === id)?.conclusion === 'better';
      const unit = info?.unit ?? 'number';
      if (info?.group === 'cost') {
        const times = timesAsMuch(after, before);
        const what = unit === 'money' ? 'price' : 'tokens';
        return `${isBetter ? 'cheaper' : 'dearer'}${times === null ? '' : ` (${times} ${what})`}`;
      }
      const change = `${formatValue(before, unit)} to ${formatValue(after, unit)}`;
      return `${isBetter ? 'better' : 'worse'} in ${lowerFirst(info?.label ?? id)} (${change})`;
    }),
  );
}

/** What sets an arm apart from the first, the most important first. */
export function verdictOnPair(
  compared: Compared,
  { arms, metrics, header, comparisons }: Findings,
): string[] {
  const baseline = arms[0] as Arm;
  const arm = arms.find(({ name }) => name === compared.arm) as Arm;
  const headline = answersOf(compared.metrics);
  const info = (id: string) => metrics.find((metric) => metric.id === id);
  const others = compared.metrics.filter(
    ({ metric, conclusion }) =>
      metric !== HEADLINE &&
      (conclusion === 'better' || conclusion === 'worse') &&
      !EFFORT.has(info(metric)?.group ?? 'time'),
  );
  return [
    headline === undefined
      ? `No case says what is right in both arms, so ${quoted(arm.name)} and ${quoted(baseline.name)} cannot be compared by their answers.`
      : sentenceOn(headline, baseline, arm, {
          price: priceOf(compared, baseline, arm),
          margin: header.margin,
          // Of a single pair the advice above says it.
          more: comparisons.length > 1 ? ` ${moreCases(headline)}` : '',
        }),
    ...others
      .slice(0, MOST_NAMED)
      .map((comparison) => otherSentence(comparison, info(comparison.metric), baseline, arm)),
  ];
}

function sentenceOn(
  headline: MetricComparison,
  baseline: Arm,
  arm: Arm,
  { price, margin, more }: { price: string | null; margin: number; more: string },
): string {
  const { n, better, worse, adjustedP, conclusion } = headline;
  const [other, first] = [quoted(arm.name), quoted(baseline.name)];
  const net = Math.abs(better.length - worse.length);
  const paid = price === null ? '' : `, ${price}`;
  const differing = [...better, ...worse];
  if (differing.length === 0 && conclusion === 'equivalent') {
    return `${other} and ${first} answer the same ${n} questions alike${paid}.`;
  }
  const where = differing.length === 0 ? '' : `; they differ on ${named(differing)}`;
  const split = `${other} gets ${better.length} right that ${first} gets wrong, and ${worse.length} the other way round`;
  switch (conclusion) {
    case 'better':
    case 'worse':
      return `${other} answers ${net} of ${n} ${conclusion === 'better' ? 'more' : 'fewer'} questions correctly than ${first} (${formatP(adjustedP)})${paid}${where}.`;
    case 'equivalent':
      return `${other} and ${first} answer as many of ${n} questions correctly, within ${formatPoints(margin)}: ${split}${paid}${where}.`;
    case 'undecided':
      return `No difference in correct answers is proven between ${other} and ${first} on ${n} questions (${formatP(adjustedP)}), nor that there is none: ${split}${paid}${where}.${more}`;
    case 'too few':
      return differing.length === 0
        ? `${other} and ${first} answer the same ${n} questions alike, which is too few to say that they always do${paid}.${more}`
        : `${other} and ${first} differ on ${differing.length} of ${n} questions, too few to prove anything: ${split}${paid}${where}.${more}`;
  }
}

function otherSentence(
  { metric, conclusion, adjustedP }: MetricComparison,
  info: MetricInfo | undefined,
  baseline: Arm,
  arm: Arm,
): string {
  const before = knownValue(baseline.metrics[metric]);
  const after = knownValue(arm.metrics[metric]);
  const unit = info?.unit ?? 'number';
  const change =
    before === null || after === null
      ? ''
      : `, ${formatValue(before.value, unit)} to ${formatValue(after.value, unit)}`;
  return `${quoted(arm.name)} is ${conclusion} in ${lowerFirst(info?.label ?? metric)}${change} (${formatP(adjustedP)}).`;
}

function priceOf({ metrics }: Compared, baseline: Arm, arm: Arm): string | null {
  const id = priceMetric(metrics);
  const before = knownValue(baseline.metrics[id ?? '']);
  const after = knownValue(arm.metrics[id ?? '']);
  const times = before === null || after === null ? null : timesAsMuch(after.value, before.value);
  return times === null ? null : `for ${times} ${id === 'cost.money' ? 'price' : 'tokens'}`;
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
