import { counted, quoted } from '../../text/phrasing.ts';
import { HEADLINE_METRIC } from '../statistics/compare-columns.ts';
import { headlineComparison, priceMetric } from './decide.ts';
import {
  formatP,
  formatPercent,
  formatPoints,
  formatRatio,
  formatValue,
  joined,
  knownValue,
} from './format-value.ts';
import type {
  Arm,
  ArmComparison,
  MetricComparison,
  MetricInfo,
  Recommendation,
  ReportData,
} from './report-data.ts';

/* Sentences about typed conclusions. No function here concludes anything itself. */

const MAX_METRIC_SENTENCES = 5;
const COST_GROUPS = new Set<MetricInfo['group'] | undefined>(['effort', 'cost', 'time']);

type Compared = Omit<ArmComparison, 'verdict'>;

/** The parts of a report that sentences are written from. */
export interface Findings extends Pick<ReportData, 'arms' | 'metrics' | 'decision'> {
  comparisons: readonly Compared[];
  margin: number;
}

/** The result in one line without a full stop: the title of the page. */
export function findingOf({ arms, comparisons }: Pick<Findings, 'arms' | 'comparisons'>): string {
  const [first] = arms as [Arm];
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
      .map(([names, phrase]) => `${subject(names, 'answers', 'answer')} ${phrase} ${quoted(first.name)}`),
    ...(open.length > 0 ? [`Undecided between ${joined([first.name, ...open].map(quoted))}`] : []),
  ];
  return found.length > 0 ? found.join('; ') : 'No case has gold to judge the answers by';
}

/** Sentences about a single arm. */
export function verdictOnArm({ name, metrics, errors }: Arm): string[] {
  const correct = knownValue(metrics[HEADLINE_METRIC]);
  const range = correct?.interval;
  const interval = range ? `, 95 % interval ${Math.round(range[0] * 100)} to ${formatPercent(range[1])}` : '';
  const share = correct === null ? '' : ` (${formatPercent(correct.value)}${interval})`;
  const list = (...items: [id: string, format: (value: number) => string][]) =>
    items.flatMap(([id, format]) => {
      const found = knownValue(metrics[id]);
      return found === null ? [] : [format(found.value)];
    });
  const quality = list(
    ['retrieval.recall@5', (value) => `recall@5 ${formatPercent(value)}`],
    ['citation.precision', (value) => `citation precision ${formatPercent(value)}`],
    ['abstention.f1', (value) => `abstention F1 ${value.toFixed(2)}`],
  );
  const cost = list(
    ['cost.tokens', (value) => `${value.toFixed(0)} tokens`],
    ['time.total', (value) => formatValue(value, 'ms')],
  );
  return [
    `${correctAnswers({ name, metrics })}${share}.`,
    ...(quality.length > 0 ? [`${upperFirst(joined(quality))}.`] : []),
    ...(cost.length > 0 ? [`${joined(cost)} per turn.`] : []),
    ...(errors > 0 ? [`${counted(errors, 'run')} failed.`] : []),
  ];
}

function correctAnswers({ name, metrics }: Pick<Arm, 'name' | 'metrics'>): string {
  const correct = knownValue(metrics[HEADLINE_METRIC]);
  if (correct === null) return 'No case has gold to judge the answers by';
  const answered = Number((correct.value * correct.n).toFixed(1));
  return `${quoted(name)} answers ${answered} of ${counted(correct.n, 'question')} correctly`;
}

/** The recommendation in a few sentences; null without one. */
export function formatRecommendation(findings: Findings): string | null {
  const { decision, arms, comparisons, margin } = findings;
  if (decision === null) return null;
  const first = quoted(arms[0]?.name ?? '');
  const about = comparisons.filter(({ arm }) => decision.arms.includes(arm));
  const [main] = about;
  const asMany = `as many questions correctly as ${first}, within ${formatPoints(margin)}`;
  const details = (compared: Compared | undefined) =>
    compared === undefined
      ? ''
      : `${listChanges('Better', compared.standing.gains, compared, findings)}${listChanges('Worse', compared.standing.losses, compared, findings)}`;
  const open = (decision.kind === 'keep' ? comparisons : about).flatMap(({ standing }) => standing.undecided);
  const labels = findings.metrics.filter(({ id }) => open.includes(id)).map(({ label }) => lowerFirst(label));
  const undecided = labels.length === 0 ? '' : ` Undecided: ${joined(labels)}.`;
  switch (decision.kind) {
    case 'take': {
      const headline = headlineComparison(main?.metrics ?? []);
      const reason =
        headline?.conclusion === 'better'
          ? `more questions correctly than ${first} (${formatP(headline.adjustedP)})`
          : asMany;
      return `Use ${quoted(decision.arms[0] ?? '')}: it answers ${reason}.${details(main)}${undecided}`;
    }
    case 'weigh':
      return `Trade-off: ${quoted(decision.arms[0] ?? '')} answers ${asMany}.${details(main)}${undecided}`;
    case 'either':
      return `Use either: ${subject(decision.arms, 'answers', 'answer')} ${asMany}, and no other difference is proven.${undecided}`;
    case 'keep':
      return `Keep ${first}: no other arm answers as many questions correctly without being worse elsewhere.${undecided}`;
    case 'undecided':
      return `Undecided between ${joined([first, ...decision.arms.map(quoted)])}. ${moreCases(decision)}`;
  }
}

function moreCases({ needed }: Pick<Recommendation, 'needed'>): string {
  return needed === null
    ? 'More cases would hardly decide it.'
    : `About ${counted(needed, 'more case')} like these would decide it.`;
}

/** " Better: tokens (0.5 times), over-search (1.000 to 0.000)." */
function listChanges(title: string, ids: readonly string[], { arm }: Compared, findings: Findings): string {
  const changes = ids.map((id) => {
    const info = findings.metrics.find((metric) => metric.id === id);
    const change = formatChange(
      info,
      findings.arms[0],
      findings.arms.find(({ name }) => name === arm),
    );
    return `${lowerFirst(info?.label ?? id)} (${change})`;
  });
  return changes.length === 0 ? '' : ` ${title}: ${changes.join(', ')}.`;
}

function formatChange(info: MetricInfo | undefined, before: Arm | undefined, after: Arm | undefined): string {
  const [from = 0, to = 0] = [before, after].map((arm) => knownValue(arm?.metrics[info?.id ?? ''])?.value);
  const unit = info?.unit ?? 'number';
  const ratio = info?.group === 'cost' ? formatRatio(to, from) : null;
  return ratio ?? `${formatValue(from, unit)} to ${formatValue(to, unit)}`;
}

/** Sentences about an arm and the baseline, correct answers first, then the proven differences of quality. */
export function verdictOnPair(compared: Compared, { arms, metrics, comparisons }: Findings): string[] {
  const baseline = arms[0] as Arm;
  const arm = arms.find(({ name }) => name === compared.arm) as Arm;
  const infoOf = (id: string) => metrics.find((metric) => metric.id === id);
  const headline = headlineComparison(compared.metrics);
  const proven = compared.metrics.filter(
    ({ metric, conclusion }) =>
      metric !== HEADLINE_METRIC &&
      (conclusion === 'better' || conclusion === 'worse') &&
      !COST_GROUPS.has(infoOf(metric)?.group),
  );
  // A single pair gets the number of cases from the recommendation.
  const more = comparisons.length > 1 && headline?.needed != null ? ` ${moreCases(headline)}` : '';
  return [
    headline === undefined
      ? `No case can be judged in both ${quoted(arm.name)} and ${quoted(baseline.name)}.`
      : `${compareAnswers(headline, arm, baseline)}${formatPrice(compared, arm, baseline)}.${more}`,
    ...proven.slice(0, MAX_METRIC_SENTENCES).map(({ metric, conclusion, adjustedP }) => {
      const info = infoOf(metric);
      const change = formatChange(info, baseline, arm);
      return `${quoted(arm.name)} is ${conclusion} in ${lowerFirst(info?.label ?? metric)}: ${change} (${formatP(adjustedP)}).`;
    }),
  ];
}

function compareAnswers(
  { n, better, worse, conclusion, adjustedP }: MetricComparison,
  arm: Arm,
  baseline: Arm,
): string {
  const [other, first] = [quoted(arm.name), quoted(baseline.name)];
  const net = better.length - worse.length;
  const result =
    net === 0
      ? 'as many correct answers as'
      : `${counted(Math.abs(net), `${net > 0 ? 'more' : 'fewer'} correct answer`)} than`;
  const p = adjustedP === null ? '' : `, ${formatP(adjustedP)}`;
  return `${other} has ${result} ${first} on ${counted(n, 'case')}: ${conclusion}${p} (only ${other} right: ${better.length}, only ${first} right: ${worse.length})`;
}

function formatPrice({ metrics }: Compared, arm: Arm, baseline: Arm): string {
  const id = priceMetric(metrics) ?? '';
  const [before, after] = [knownValue(baseline.metrics[id]), knownValue(arm.metrics[id])];
  const ratio = before === null || after === null ? null : formatRatio(after.value, before.value);
  return ratio === null ? '' : `, at ${ratio} the ${id === 'cost.money' ? 'cost' : 'tokens'}`;
}

function subject(names: readonly string[], singular: string, plural: string): string {
  return `${joined(names.map(quoted))} ${names.length === 1 ? singular : plural}`;
}

function lowerFirst(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
