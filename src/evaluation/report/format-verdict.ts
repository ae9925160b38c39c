import { formatCount, quoteName } from '../../text/format-count.ts';
import { HEADLINE_METRIC } from '../statistics/compare-columns.ts';
import {
  formatConclusion,
  formatMetricValue,
  formatPercent,
  formatPoints,
  formatPValue,
  formatRatio,
  joinWords,
  toKnownValue,
} from './format-metric.ts';
import { findHeadline, findPriceMetric } from './recommend-arm.ts';
import type { ArmComparison, MetricComparison, ReportArm, ReportData } from './report-data.ts';

/* Sentences about typed conclusions. No function here concludes anything itself. */

type Compared = Omit<ArmComparison, 'verdict'>;

/** The parts of a report that sentences are written from. */
export interface VerdictInput extends Pick<ReportData, 'arms' | 'metrics' | 'decision'> {
  comparisons: readonly Compared[];
  margin: number;
}

/** The result in one line without a full stop: the title of the page. */
export function formatFinding({ arms, comparisons }: Pick<VerdictInput, 'arms' | 'comparisons'>): string {
  const [first] = arms as [ReportArm];
  if (comparisons.length === 0) return correctAnswers(first);
  const armsWith = (...conclusions: MetricComparison['conclusion'][]) =>
    comparisons
      .filter(({ standing }) => conclusions.some((one) => one === standing.answers))
      .map(({ arm }) => arm);
  const phrases = [
    [armsWith('better'), 'more questions correctly than'],
    [armsWith('equivalent'), 'as many questions correctly as'],
    [armsWith('worse'), 'fewer questions correctly than'],
  ] as const;
  const open = armsWith('undecided', 'too few');
  const found = [
    ...phrases
      .filter(([names]) => names.length > 0)
      .map(([names, phrase]) => `${subject(names, 'answers', 'answer')} ${phrase} ${quoteName(first.name)}`),
    ...(open.length > 0 ? [`Undecided between ${joinWords([first.name, ...open].map(quoteName))}`] : []),
  ];
  return found.length > 0 ? found.join('; ') : 'No case defines a correct answer';
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

/** The recommendation in a few sentences; null without one. */
export function formatRecommendation(findings: VerdictInput): string | null {
  const { decision, arms, comparisons, margin } = findings;
  if (decision === null) return null;
  const first = quoteName(arms[0]?.name ?? '');
  const about = comparisons.filter(({ arm }) => decision.arms.includes(arm));
  const [main] = about;
  const asMany = `as many questions correctly as ${first}, within ${formatPoints(margin)}`;
  const details = (compared: Compared | undefined) =>
    compared === undefined
      ? ''
      : `${listChanges('Better', compared.standing.gains, compared, findings)}${listChanges('Worse', compared.standing.losses, compared, findings)}`;
  const open = (decision.kind === 'keep' ? comparisons : about).flatMap(({ standing }) => standing.undecided);
  const labels = findings.metrics.filter(({ id }) => open.includes(id)).map(({ label }) => lowerFirst(label));
  const undecided = labels.length === 0 ? '' : ` Undecided: ${joinWords(labels)}.`;
  switch (decision.kind) {
    case 'take': {
      const headline = findHeadline(main?.metrics ?? []);
      const reason =
        headline?.conclusion === 'better'
          ? `more questions correctly than ${first} (${formatPValue(headline.adjustedP)})`
          : asMany;
      return `Use ${quoteName(decision.arms[0] ?? '')}: it answers ${reason}.${details(main)}${undecided}`;
    }
    case 'weigh':
      return `Trade-off: ${quoteName(decision.arms[0] ?? '')} answers ${asMany}.${details(main)}${undecided}`;
    case 'either':
      return `Use either: ${subject(decision.arms, 'answers', 'answer')} ${asMany}, and no other difference is proven.${undecided}`;
    case 'keep':
      return `Keep ${first}: no other arm answers as many questions correctly without being worse elsewhere.${undecided}`;
    case 'undecided':
      return `Undecided between ${joinWords([first, ...decision.arms.map(quoteName)])}. ${
        decision.needed === null
          ? 'More cases would hardly decide it.'
          : `About ${formatCount(decision.needed, 'more case')} like these would decide it.`
      }`;
  }
}

/** " Better: tokens (0.5 times), over-search (1.000 to 0.000)." */
function listChanges(
  title: string,
  ids: readonly string[],
  { arm }: Compared,
  findings: VerdictInput,
): string {
  const changes = ids.map((id) => {
    const info = findings.metrics.find((metric) => metric.id === id);
    const compared = [findings.arms[0], findings.arms.find(({ name }) => name === arm)];
    const [from = 0, to = 0] = compared.map((one) => toKnownValue(one?.metrics[id])?.value);
    const unit = info?.unit ?? 'number';
    const ratio = info?.group === 'cost' ? formatRatio(to, from) : null;
    const change = ratio ?? `${formatMetricValue(from, unit)} to ${formatMetricValue(to, unit)}`;
    return `${lowerFirst(info?.label ?? id)} (${change})`;
  });
  return changes.length === 0 ? '' : ` ${title}: ${changes.join(', ')}.`;
}

/** The correct answers of an arm and the baseline in one sentence. */
export function formatPairVerdict({ arm: armName, metrics }: Compared, arms: readonly ReportArm[]): string {
  const [baseline, arm] = [arms[0], arms.find(({ name }) => name === armName)] as [ReportArm, ReportArm];
  const [first, other] = [quoteName(baseline.name), quoteName(arm.name)];
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
  return `${other} has ${result} ${first} on ${formatCount(n, 'case')} (${split}): ${formatConclusion(conclusion)}${p}.${formatPrice(metrics, arm, baseline)}`;
}

function formatPrice(metrics: readonly MetricComparison[], arm: ReportArm, baseline: ReportArm): string {
  const id = findPriceMetric(metrics) ?? '';
  const [before, after] = [toKnownValue(baseline.metrics[id]), toKnownValue(arm.metrics[id])];
  const ratio = before === null || after === null ? null : formatRatio(after.value, before.value);
  return ratio === null || ratio === '1.0 times'
    ? ''
    : ` It uses ${ratio} the ${id === 'cost.money' ? 'money' : 'tokens'}.`;
}

function subject(names: readonly string[], singular: string, plural: string): string {
  return `${joinWords(names.map(quoteName))} ${names.length === 1 ? singular : plural}`;
}

function lowerFirst(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}
