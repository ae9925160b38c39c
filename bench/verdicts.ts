import { createEncodingCache } from '../scripts/fit/encoding-cache.ts';
import { CACHE } from '../scripts/fit/feature-cache.ts';
import { areaUnderCurve, balancedAccuracy, calibrationError } from '../scripts/fit/metrics.ts';
import { sourceOf, supportExamples } from '../scripts/fit/support-examples.ts';
import { fitSupport } from '../scripts/fit/support-fit.ts';
import { DATA, readSupportSet, SUPPORT_SETS, type SupportRow } from '../scripts/fit/support-sets.ts';
import type { SentenceVerdict } from '../src/domain/checked-sentence.ts';
import { isPassedCitation } from '../src/domain/citation.ts';
import { createRandomIndex } from '../src/evaluation/statistics/random-index.ts';
import { QUOTED_CHANCE } from '../src/judge/answer-judge.ts';
import { checkClaimByWords, findObjections, toVerdict } from '../src/judge/claim-verdict.ts';
import { verifyFacts } from '../src/judge/facts/verify-facts.ts';
import { loadDefaultEmbedder } from './support/load-embedder.ts';
import { measureMarkedWords } from './support/measure-marked-words.ts';
import { measureMutations } from './support/measure-mutations.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';

// Measures the judge on labelled sentences by five-fold cross-validation: npm run bench:verdicts. Rows with the same
// question or text are in the same fold.

interface Judged {
  row: SupportRow;
  chance: number;
  verdict: SentenceVerdict;
  /** The verdict without the encoder. */
  byWords: SentenceVerdict;
  weight: number;
}

const REPLICATES = 400;
const BINS: [from: number, to: number][] = [
  [0, 0.2],
  [0.2, 0.4],
  [0.4, 0.6],
  [0.6, 0.8],
  [0.8, 1],
];

const machine = describeMachine();
console.log(formatMachine(machine));
const sets = SUPPORT_SETS.flatMap((set) => {
  const rows = readSupportSet(set);
  if (rows === null) console.log(`${set}: skipped, not in ${DATA}.`);
  return rows === null ? [] : [{ set, rows }];
});
if (sets.length < SUPPORT_SETS.length) process.exit(0);
const embedder = await loadDefaultEmbedder();
const encoder = createEncodingCache(embedder, CACHE);
const features = [];
for (const { set, rows } of sets) {
  features.push(...(await supportExamples(set, rows, encoder)));
}
const rows = sets.flatMap((one) => one.rows);
const { byFold, ofFolds, evenly } = fitSupport(rows, features);
const judged = rows.map((row, index): Judged => {
  const source = sourceOf(row.documents);
  const facts = verifyFacts(row.claim, source);
  const chance = byFold[index] ?? 0;
  return {
    row,
    chance: facts.isVerbatim ? Math.max(chance, QUOTED_CHANCE) : chance,
    verdict: toVerdict(chance, facts, findObjections(facts)),
    byWords: checkClaimByWords(row.claim, source).verdict,
    weight: evenly[index] ?? 0,
  };
});
const groups: [string, Judged[]][] = [
  ...SUPPORT_SETS.map((set): [string, Judged[]] => [set, judged.filter(({ row }) => row.set === set)]),
  ['all but ragtruth_summary', judged.filter(({ row }) => row.set !== 'ragtruth_summary')],
  ['all', judged],
];
const figures = groups.map(([name, cases]) => ({
  name,
  rows: cases.length,
  supported: cases.filter(({ row }) => row.supported).length,
  judge: withIntervals(cases, byJudge),
  words: withIntervals(cases, byWords),
  reliability: reliability(cases),
}));
console.log(`\nWith the judge, five folds\n${table('judge')}`);
console.log(`\nBy words, without the encoder\n${table('words')}`);
console.log(
  '\nPublished on AttributionBench, in distribution: a zero-shot NLI model of 560 M parameters about .65, a fine-tuned GPT-3.5 about .80 (balanced accuracy).',
);
console.log(
  `\nShare of supported rows by predicted chance (supported and other rows of a set weigh the same)\n${alignColumns(
    [
      ['set', ...BINS.map(([from, to]) => `${from}-${to}`)],
      ...figures.map(({ name, reliability }) => [name, ...reliability.map(({ came }) => came.toFixed(2))]),
    ],
    BINS.map((_, index) => index + 1),
  )}`,
);
const caught = await measureMutations(rows, ofFolds, encoder);
const marked = await measureMarkedWords(rows, encoder);
await embedder.close();
console.log(`\nWritten to ${await writeResults('verdicts.json', { machine, figures, caught, marked })}`);

function table(by: 'judge' | 'words'): string {
  const columns = Object.keys(figures[0]?.[by] ?? {});
  return alignColumns(
    [
      ['set', 'rows', 'supported', ...columns],
      ...figures.map((one) => [
        one.name,
        String(one.rows),
        String(one.supported),
        ...Object.values(one[by]).map(
          ({ value, low, high }) => `${value.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`,
        ),
      ]),
    ],
    [1, 2, ...columns.map((_, index) => index + 3)],
  );
}

type Figures = Record<string, number>;

function byJudge(cases: readonly Judged[]): Figures {
  const scored = cases.map(({ row, chance, weight }) => ({ positive: row.supported, chance, weight }));
  return {
    ...verdictsOf(cases, ({ verdict }) => verdict),
    'balanced accuracy': balancedAccuracy(scored),
    AUC: areaUnderCurve(scored),
    'calibration error': calibrationError(scored),
  };
}

function byWords(cases: readonly Judged[]): Figures {
  return {
    ...verdictsOf(cases, ({ byWords }) => byWords),
    'balanced accuracy': balancedAccuracy(
      cases.map(({ row, byWords }) => ({
        positive: row.supported,
        chance: Number(isPassedCitation({ verdict: byWords })),
      })),
    ),
  };
}

/** Precision and recall of `supported` and `quoted`, and the share of supported sentences called `unsupported`. */
function verdictsOf(cases: readonly Judged[], verdictOf: (one: Judged) => SentenceVerdict): Figures {
  const share = (some: readonly Judged[], is: (one: Judged) => boolean) =>
    some.length === 0 ? Number.NaN : some.filter(is).length / some.length;
  const positive = cases.filter(({ row }) => row.supported);
  const passes = (one: Judged) => isPassedCitation({ verdict: verdictOf(one) });
  return {
    precision: share(cases.filter(passes), ({ row }) => row.supported),
    recall: share(positive, passes),
    'false alarms': share(positive, (one) => verdictOf(one) === 'unsupported'),
  };
}

function reliability(cases: readonly Judged[]) {
  return BINS.map(([from, to]) => {
    const inside = cases.filter(({ chance }) => chance >= from && (chance < to || to === 1));
    const sum = (some: readonly Judged[]) => some.reduce((total, { weight }) => total + weight, 0);
    return {
      from,
      to,
      rows: inside.length,
      came: sum(inside.filter(({ row }) => row.supported)) / sum(inside),
    };
  });
}

interface Interval {
  value: number;
  low: number;
  high: number;
}

/** 95 % bootstrap intervals. */
function withIntervals(
  cases: readonly Judged[],
  measure: (cases: readonly Judged[]) => Figures,
): Record<string, Interval> {
  const random = createRandomIndex(1);
  const samples = Array.from({ length: REPLICATES }, () =>
    measure(cases.map(() => cases[random(cases.length)] as Judged)),
  );
  return Object.fromEntries(
    Object.entries(measure(cases)).map(([name, value]): [string, Interval] => {
      const sorted = samples.map((sample) => sample[name] ?? Number.NaN).sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.round(share * (REPLICATES - 1))] ?? Number.NaN;
      return [name, { value, low: at(0.025), high: at(0.975) }];
    }),
  );
}
