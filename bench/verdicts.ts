import { createEncodingCache } from '../scripts/fit/encoding-cache.ts';
import { CACHE, rememberFeatures } from '../scripts/fit/feature-cache.ts';
import { areaUnderCurve, balancedAccuracy, calibrationError } from '../scripts/fit/metrics.ts';
import { supportExamples } from '../scripts/fit/support-examples.ts';
import { fitSupport } from '../scripts/fit/support-fit.ts';
import { DATA, readSupportSet, SUPPORT_SETS, type SupportRow } from '../scripts/fit/support-sets.ts';
import type { SentenceVerdict } from '../src/domain/checked-sentence.ts';
import { createRandomIndex } from '../src/evaluation/statistics/random.ts';
import { align } from '../src/judge/align.ts';
import { checkClaim } from '../src/judge/check-claim.ts';
import { judgeSupport } from '../src/judge/create-judge.ts';
import { namesIn } from '../src/judge/facts/claim-facts.ts';
import { type ClaimFacts, factsOf } from '../src/judge/facts/held-facts.ts';
import { readText } from '../src/judge/read-text.ts';
import type { JudgedPassage } from '../src/judge/unit.ts';
import { objectionsOf, supportVerdict } from '../src/judge/verdict.ts';
import type { TokenEncoder } from '../src/ports/token-encoder.ts';
import { loadEmbedder } from './support/minilm.ts';
import { type Mutation, mutationsOf } from './support/mutations.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';

// Holds the judge against sentences that people have judged: npm run bench:verdicts. No figure comes from a model
// that was fitted on what it is measured with: five folds, in which rows that share a question or a text stay together.

interface Judged {
  row: SupportRow;
  chance: number;
  verdict: SentenceVerdict;
  /** By words alone, without the model. */
  byWords: SentenceVerdict;
  weight: number;
}

const REPLICATES = 400;
const MUTATED = 600;

const machine = describeMachine();
console.log(formatMachine(machine));
const sets = SUPPORT_SETS.flatMap((set) => {
  const rows = readSupportSet(set);
  if (rows === null) console.log(`${set}: not measured, ${DATA} has no such set.`);
  return rows === null ? [] : [{ set, rows }];
});
if (sets.length < SUPPORT_SETS.length) process.exit(0);
const embedder = await loadEmbedder();
const encoder = createEncodingCache(embedder, CACHE);
const features = [];
for (const { set, rows } of sets) {
  features.push(...(await rememberFeatures(set, rows, () => supportExamples(rows, encoder))));
}
const rows = sets.flatMap((one) => one.rows);
const { validation, evenly } = fitSupport(rows, features);
const judged = rows.map((row, index): Judged => {
  const facts = factsOf(row.claim, sourceOf(row));
  const chance = validation.byFold[index] ?? 0;
  return {
    row,
    chance: facts.whole ? 0.98 : chance,
    verdict: supportVerdict(chance, facts, objectionsOf(facts)),
    byWords: wordsAlone(row, facts),
    weight: evenly[index] ?? 0,
  };
});
const groups: [string, Judged[]][] = [
  ...SUPPORT_SETS.map((set): [string, Judged[]] => [set, judged.filter(({ row }) => row.set === set)]),
  ['all', judged],
];
const figures = groups.map(([name, cases]) => ({ name, rows: cases.length, ...withIntervals(cases) }));
const columns = Object.keys(measure(judged)) as (keyof ReturnType<typeof measure>)[];
console.log(
  `\n${alignColumns(
    [
      ['set', ...columns],
      ...figures.map((one) => [
        one.name,
        ...columns.map((column) => {
          const { value, low, high } = one[column] as Interval;
          return `${value.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`;
        }),
      ]),
    ],
    columns.map((_, index) => index + 1),
  )}`,
);
console.log(
  '\nPublished on AttributionBench, in distribution: a zero-shot NLI model of 560 M parameters about .65, a fine-tuned GPT-3.5 about .80 (balanced accuracy).',
);
const caught = await measureMutations(encoder);
await embedder.close();
console.log(`\nWritten to ${await writeResults('verdicts.json', { machine, figures, caught })}`);

function wordsAlone(row: SupportRow, facts: ClaimFacts): SentenceVerdict {
  return facts.whole ? 'quoted' : checkClaim(row.claim, sourceOf(row)).verdict;
}

function sourceOf({ documents }: SupportRow): JudgedPassage {
  return { text: documents.join('\n\n'), title: '', headings: [] };
}

function measure(cases: readonly Judged[]) {
  const accepted = (verdict: SentenceVerdict) => verdict === 'quoted' || verdict === 'supported';
  const share = (some: readonly Judged[], is: (one: Judged) => boolean) =>
    some.length === 0 ? Number.NaN : some.filter(is).length / some.length;
  const positive = cases.filter(({ row }) => row.supported);
  const said = cases.filter(({ verdict }) => accepted(verdict));
  const saidByWords = cases.filter(({ byWords }) => accepted(byWords));
  const scored = cases.map(({ row, chance, weight }) => ({ positive: row.supported, chance, weight }));
  return {
    precision: share(said, ({ row }) => row.supported),
    recall: share(positive, ({ verdict }) => accepted(verdict)),
    'false alarms': share(positive, ({ verdict }) => verdict === 'unsupported'),
    'balanced accuracy': balancedAccuracy(scored),
    AUC: areaUnderCurve(scored),
    'calibration error': calibrationError(scored),
    'by words: precision': share(saidByWords, ({ row }) => row.supported),
    'by words: recall': share(positive, ({ byWords }) => accepted(byWords)),
    'by words: false alarms': share(positive, ({ byWords }) => byWords === 'unsupported'),
    'by words: balanced accuracy': balancedAccuracy(
      cases.map(({ row, byWords }) => ({ positive: row.supported, chance: Number(accepted(byWords)) })),
    ),
  };
}

interface Interval {
  value: number;
  low: number;
  high: number;
}

/** 95 % intervals over resamples of the rows. */
function withIntervals(cases: readonly Judged[]): Record<keyof ReturnType<typeof measure>, Interval> {
  const values = measure(cases);
  const random = createRandomIndex(1);
  const samples = Array.from({ length: REPLICATES }, () =>
    measure(cases.map(() => cases[random(cases.length)] as Judged)),
  );
  const interval = (name: keyof typeof values): Interval => {
    const sorted = samples.map((sample) => sample[name]).sort((a, b) => a - b);
    return {
      value: values[name],
      low: sorted[Math.floor(REPLICATES * 0.025)] ?? Number.NaN,
      high: sorted[Math.ceil(REPLICATES * 0.975) - 1] ?? Number.NaN,
    };
  };
  return Object.fromEntries(
    (Object.keys(values) as (keyof typeof values)[]).map((name) => [name, interval(name)]),
  ) as Record<keyof typeof values, Interval>;
}

/** Changes supported sentences so that they no longer are, and counts how many are no longer called so. */
async function measureMutations(encoder: TokenEncoder) {
  const supported = rows.filter(
    (row) => row.supported && row.set !== 'healthver_dev' && row.set !== 'wice_dev',
  );
  const step = Math.max(1, Math.floor(supported.length / MUTATED));
  const picked = supported.filter((_, index) => index % step === 0);
  const names = [...new Set(supported.slice(-400).flatMap(({ claim }) => namesIn(claim)))].filter(
    (name) => name.length > 3,
  );
  const counts = new Map<
    string,
    { total: number; caught: number; caughtByWords: number; accepted: number }
  >();
  const count = (kind: Mutation['kind'] | 'unchanged', verdict: string, byWords: string, before: boolean) => {
    const one = counts.get(kind) ?? { total: 0, caught: 0, caughtByWords: 0, accepted: 0 };
    const isCaught = verdict !== 'supported' && verdict !== 'quoted';
    counts.set(kind, {
      total: one.total + 1,
      caught: one.caught + Number(isCaught),
      caughtByWords: one.caughtByWords + Number(byWords !== 'supported'),
      accepted: one.accepted + Number(before && !isCaught),
    });
  };
  let at = 0;
  for (const row of picked) {
    const passages = row.documents.map((text) => ({ text, title: '', headings: [] }));
    const source = sourceOf(row);
    const read = (await encoder.encodeTokens(row.documents)).map((encoded, index) =>
      readText(row.documents[index] ?? '', encoded, encoder.dimensions),
    );
    const judge = async (claim: string) => {
      const [encoded] = await encoder.encodeTokens([claim]);
      if (encoded === undefined) throw new Error('the encoder gave nothing back');
      return judgeSupport(
        align(readText(claim, encoded, encoder.dimensions), read),
        factsOf(claim, source),
        passages,
      ).verdict;
    };
    at += 1;
    const other = names.slice((at * 7) % names.length).concat(names);
    const before = await judge(row.claim);
    count('unchanged', before, checkClaim(row.claim, source).verdict, true);
    for (const { kind, text } of mutationsOf(row.claim, source.text, other)) {
      count(
        kind,
        await judge(text),
        checkClaim(text, source).verdict,
        before === 'supported' || before === 'quoted',
      );
    }
  }
  const lines = Array.from(counts, ([kind, { total, caught, caughtByWords }]) => [
    kind,
    String(total),
    (caught / total).toFixed(3),
    (caughtByWords / total).toFixed(3),
  ]);
  console.log(
    `\n${picked.length} supported sentences, changed\n${alignColumns([['change', 'sentences', 'not called supported', 'by words alone'], ...lines], [1, 2, 3])}`,
  );
  return Object.fromEntries(counts);
}
