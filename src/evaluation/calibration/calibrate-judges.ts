import {
  columnOf,
  estimateShare,
  measureAgreement,
  measureLean,
  measureReliability,
  type Rulings,
} from '../statistics/agreement.ts';
import { createSampler, type Sampler } from '../statistics/bootstrap.ts';
import { exactMcNemar } from '../statistics/significance.ts';
import {
  CALIBRATION_FORMAT,
  type CalibrationData,
  type JudgeFigures,
  type JudgeName,
  type Ruling,
  VERDICTS,
} from './calibration-data.ts';
import { findingsOf } from './findings.ts';
import { LABELS, type Label } from './label.ts';

/** A judge, and what it said of each label, in order; null where it could not be made to say anything. */
export interface JudgeRulings {
  name: JudgeName;
  description: string;
  rulings: readonly (Ruling | null)[];
}

type Header = Pick<CalibrationData['header'], 'file' | 'seed' | 'version' | 'model' | 'durationMs'>;

/** Holds judges against the people who made the labels. What is only partly supported is not supported. */
export function calibrateJudges(
  labels: readonly Label[],
  judges: readonly JudgeRulings[],
  header: Header,
): CalibrationData {
  const sample = createSampler(header.seed);
  const figures = judges.map((judge) => figuresOf(labels, judge, sample));
  const comparisons = judges.flatMap((first, index) =>
    judges.slice(index + 1).map((second) => compareTwo(labels, first, second, sample)),
  );
  return {
    format: CALIBRATION_FORMAT,
    kind: 'judges',
    header: {
      ...header,
      labels: labels.length,
      byLabel: Object.fromEntries(
        Array.from(
          Map.groupBy(labels, ({ label }) => label),
          ([label, all]) => [label, all.length],
        ),
      ),
    },
    findings: findingsOf(figures, comparisons),
    judges: figures,
    comparisons,
    cases: labels.map(({ documents: _, ...label }, index) => ({
      ...label,
      rulings: Object.fromEntries(judges.map(({ name, rulings }) => [name, rulings[index] ?? null])),
      partFrom: judges.filter(({ rulings }) => parts(label, rulings[index] ?? null)).map(({ name }) => name),
    })),
  };
}

function figuresOf(labels: readonly Label[], judge: JudgeRulings, sample: Sampler): JudgeFigures {
  const { name, description, rulings } = judge;
  const ruled = pairsOf(labels, rulings);
  const said = labels.flatMap(({ label }, index) => {
    const ruling = rulings[index] ?? null;
    return ruling === null ? [] : [{ label, ruling }];
  });
  const foretold = said.flatMap(({ label, ruling: { chance } }) =>
    chance === null ? [] : [{ chance, came: label === 'supported' }],
  );
  const alarms = columnOf(ruled, ({ person }, index) =>
    person ? Number(rulings[index]?.verdict === 'unsupported') : null,
  );
  return {
    name,
    description,
    ruled: said.length,
    ...measureAgreement(ruled, sample),
    falseAlarms: estimateShare(alarms, sample),
    bias: biasOf(labels, ruled, sample),
    reliability: foretold.length === 0 ? null : measureReliability(foretold),
    counts: countsOf(said),
    sources: sourcesOf(labels, ruled, sample),
  };
}

/** How often each verdict was given on each label; both in their order, and each row with the same verdicts. */
function countsOf(said: readonly { label: Label['label']; ruling: Ruling }[]): JudgeFigures['counts'] {
  const verdicts = VERDICTS.filter((verdict) => said.some(({ ruling }) => ruling.verdict === verdict));
  const labels = LABELS.filter((label) => said.some((one) => one.label === label));
  const count = (label: string, verdict: string) =>
    said.filter((one) => one.label === label && one.ruling.verdict === verdict).length;
  return Object.fromEntries(
    labels.map((label) => [
      label,
      Object.fromEntries(verdicts.map((verdict) => [verdict, count(label, verdict)])),
    ]),
  );
}

/** Words by which a claim owns that it may be wrong. Small letters alone: May is a month. */
const HEDGE =
  /\b(?:may|might|could|perhaps|maybe|possibly|probably|likely|unlikely|suggests?|suggested|appears?|seems?|reportedly|allegedly|apparently|approximately|roughly|tends? to|believed to|thought to|unclear|not (?:sure|certain|clear))\b/;

/** Whether a claim is put without a word of doubt. */
export function isConfident(claim: string): boolean {
  return !HEDGE.test(claim.charAt(0).toLowerCase() + claim.slice(1));
}

function biasOf(labels: readonly Label[], ruled: Rulings, sample: Sampler): JudgeFigures['bias'] {
  const lengths = labels.map(({ claim }) => claim.split(/\s+/).length);
  const middle = lengths.toSorted((a, b) => a - b)[Math.floor((lengths.length - 1) / 2)] ?? 0;
  return [
    {
      towards: 'long',
      kind: `more than ${middle} words`,
      ...measureLean(ruled, (index) => (lengths[index] ?? 0) > middle, sample),
    },
    {
      towards: 'confident',
      kind: 'without words of doubt, such as "may" or "probably"',
      ...measureLean(ruled, (index) => isConfident(labels[index]?.claim ?? ''), sample),
    },
  ];
}

/** By where the labels are from, where they are from several places. */
function sourcesOf(labels: readonly Label[], ruled: Rulings, sample: Sampler): JudgeFigures['sources'] {
  const sources = [...new Set(labels.map(({ source }) => source ?? 'no source'))];
  if (sources.length < 2) return [];
  return sources.map((source) => {
    const ofSource = ruled.map((one, index) =>
      (labels[index]?.source ?? 'no source') === source ? one : null,
    );
    const { agreement, kappa } = measureAgreement(ofSource, sample);
    return { source, n: ofSource.filter((one) => one !== null).length, agreement, kappa };
  });
}

function compareTwo(
  labels: readonly Label[],
  first: JudgeRulings,
  second: JudgeRulings,
  sample: Sampler,
): CalibrationData['comparisons'][number] {
  const both = labels.map((label, index) => {
    const [one, other] = [first.rulings[index] ?? null, second.rulings[index] ?? null];
    return one === null || other === null ? null : { label, one, other };
  });
  const between = both.map((pair) =>
    pair === null ? null : { person: pair.one.supported, judge: pair.other.supported },
  );
  const differing = both.flatMap((pair) =>
    pair === null || pair.one.supported === pair.other.supported ? [] : [pair],
  );
  const onlySecondRight = differing.filter(({ label, one }) => parts(label, one)).length;
  const onlyFirstRight = differing.length - onlySecondRight;
  return {
    first: first.name,
    second: second.name,
    kappa: measureAgreement(between, sample).kappa,
    onlyFirstRight,
    onlySecondRight,
    p: exactMcNemar(onlyFirstRight, onlySecondRight),
  };
}

function pairsOf(labels: readonly Label[], rulings: readonly (Ruling | null)[]): Rulings {
  return labels.map(({ label }, index) => {
    const ruling = rulings[index] ?? null;
    return ruling === null ? null : { person: label === 'supported', judge: ruling.supported };
  });
}

function parts({ label }: Pick<Label, 'label'>, ruling: Ruling | null): boolean {
  return ruling !== null && ruling.supported !== (label === 'supported');
}
