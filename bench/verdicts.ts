import { CHECK_LIMITS, findClaimedNames } from '../src/citations/check-sentence.ts';
import { createLabelledCheck, measureSimilarity } from './support/check-labelled.ts';
import {
  LABELLED_DATA,
  LABELLED_SETS,
  type LabelledSentence,
  readLabelledSet,
} from './support/labelled-sentences.ts';
import { loadDefaultEmbedder } from './support/load-embedder.ts';
import { createMutations, hasUnit } from './support/mutations.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';
import { createWordVectorCache, type EmbedWords } from './support/word-vector-cache.ts';

// Measures the built-in citation check on labelled sentences: npm run bench:verdicts. The rules were written with all sets
// in view. Their limits are also chosen on half of the rows and measured on the others, and on the other sets.

/** Sentences that people call supported, and the others, each with how many of them are flagged. */
interface SetCounts {
  supported: number;
  flagged: number;
  unsupported: number;
  caught: number;
  /** Flagged supported and caught other sentences by the kind of the reason. */
  reasons: Record<string, [flagged: number, caught: number]>;
}

const MUTATED = 900;
const MOST_FLAGGED = 0.03;

const machine = describeMachine();
console.log(formatMachine(machine));
const rows = LABELLED_SETS.flatMap((set) => {
  const read = readLabelledSet(set);
  if (read === null) console.log(`${set}: skipped, not in ${LABELLED_DATA}.`);
  return read ?? [];
});
if (rows.length === 0) process.exit(0);
const embedder = await loadDefaultEmbedder();
const embed = createWordVectorCache(embedder);
const sets = await measureSets(rows, embed);
console.log(`\nAll rows\n${formatSets(sets)}`);
const similarityAuc = await measureSimilarityAuc(rows, embed);
console.log(
  `\nAUC of the similarity: ${Object.entries(similarityAuc)
    .map(([set, auc]) => `${set} ${auc.toFixed(3)}`)
    .join(', ')}`,
);
const trials = await tryLimits();
const heldOut = addSets(
  chooseLimits(({ even }) => Object.values(even)).odd,
  chooseLimits(({ odd }) => Object.values(odd)).even,
);
console.log(`\nEach half of the rows, with limits chosen on the other half\n${formatSets(heldOut)}`);
const unseen = Object.fromEntries(Object.keys(heldOut).map((set) => [set, measureUnseen(set)]));
console.log(`\nEach set, with limits chosen on the other sets\n${formatSets(unseen)}`);
const withoutVectors = await measureSets(rows, null);
console.log(`\nWithout word vectors\n${formatSets(withoutVectors)}`);
const mutations = await measureMutations(rows, embed);
const lines = Object.entries(mutations).map(([kind, { sentences, caught }]) => [
  kind,
  String(sentences),
  (caught / sentences).toFixed(3),
]);
console.log(
  `\nSupported sentences, changed\n${alignColumns([['change', 'sentences', 'caught'], ...lines], [1, 2])}`,
);
await embedder.close();
const results = {
  machine,
  limits: CHECK_LIMITS,
  sets,
  similarityAuc,
  heldOut,
  unseen,
  withoutVectors,
  mutations,
};
console.log(`\nWritten to ${await writeResults('verdicts.json', results)}`);

interface Trial {
  limits: typeof CHECK_LIMITS;
  even: Record<string, SetCounts>;
  odd: Record<string, SetCounts>;
}

async function tryLimits(): Promise<Trial[]> {
  const found: Trial[] = [];
  const [even, odd] = [0, 1].map((rest) => rows.filter((one) => isBinding(one) && one.row % 2 === rest));
  for (const similarity of [0.42, 0.45, 0.48]) {
    for (const similarName of [0.42, 0.45]) {
      const limits = { ...CHECK_LIMITS, similarity, similarName };
      found.push({
        limits,
        even: await measureSets(even ?? [], embed, limits),
        odd: await measureSets(odd ?? [], embed, limits),
      });
    }
  }
  return found;
}

/** The limits that flag too much least, then those that catch most. */
function chooseLimits(countsOf: (trial: Trial) => SetCounts[]): Trial {
  const excess = (trial: Trial) =>
    countsOf(trial).reduce(
      (sum, { flagged, supported }) => sum + Math.max(0, flagged / supported - MOST_FLAGGED),
      0,
    );
  return trials.toSorted(
    (a, b) => excess(a) - excess(b) || meanCaught(countsOf(b)) - meanCaught(countsOf(a)),
  )[0] as Trial;
}

function measureUnseen(set: string): SetCounts {
  const { even, odd } = chooseLimits((trial) =>
    Object.entries(addSets(trial.even, trial.odd)).flatMap(([name, count]) => (name === set ? [] : [count])),
  );
  return addCounts(even[set] as SetCounts, odd[set] as SetCounts);
}

function addSets(a: Record<string, SetCounts>, b: Record<string, SetCounts>): Record<string, SetCounts> {
  return Object.fromEntries(
    Object.entries(a).map(([set, counts]) => [set, addCounts(counts, b[set] as SetCounts)]),
  );
}

function addCounts(a: SetCounts, b: SetCounts): SetCounts {
  const kinds = [...new Set([...Object.keys(a.reasons), ...Object.keys(b.reasons)])];
  return {
    supported: a.supported + b.supported,
    flagged: a.flagged + b.flagged,
    unsupported: a.unsupported + b.unsupported,
    caught: a.caught + b.caught,
    reasons: Object.fromEntries(
      kinds.map((kind) => {
        const [flagged, caught] = a.reasons[kind] ?? [0, 0];
        const [moreFlagged, moreCaught] = b.reasons[kind] ?? [0, 0];
        return [kind, [flagged + moreFlagged, caught + moreCaught]];
      }),
    ),
  };
}

/** How often a supported sentence is more similar to its passages than another sentence is to its own. */
async function measureSimilarityAuc(
  sentences: readonly LabelledSentence[],
  embedWords: EmbedWords,
): Promise<Record<string, number>> {
  const bySet: Record<string, { supported: number[]; others: number[] }> = {};
  for (const sentence of sentences) {
    bySet[sentence.set] ??= { supported: [], others: [] };
    bySet[sentence.set]?.[sentence.label === 'supported' ? 'supported' : 'others'].push(
      await measureSimilarity(sentence, embedWords),
    );
  }
  return Object.fromEntries(
    Object.entries(bySet).map(([set, { supported, others }]) => {
      const wins = supported.map((one) =>
        others.reduce((sum, other) => sum + (one > other ? 1 : one === other ? 0.5 : 0), 0),
      );
      return [set, wins.reduce((sum, won) => sum + won, 0) / (supported.length * others.length)];
    }),
  );
}

/** Health claims are about other words than the papers that they are compared with, so they decide nothing. */
function isBinding({ set }: LabelledSentence): boolean {
  return set !== 'healthver_dev';
}

function meanCaught(counts: readonly SetCounts[]): number {
  return counts.reduce((sum, { caught, unsupported }) => sum + caught / Math.max(1, unsupported), 0);
}

async function measureSets(
  sentences: readonly LabelledSentence[],
  embedWords: EmbedWords | null,
  limits = CHECK_LIMITS,
): Promise<Record<string, SetCounts>> {
  const counts: Record<string, SetCounts> = {};
  for (const sentence of sentences) {
    const check = await createLabelledCheck(sentence, embedWords, limits);
    const { reason } = await check(sentence.claim);
    counts[sentence.set] ??= { supported: 0, flagged: 0, unsupported: 0, caught: 0, reasons: {} };
    const count = counts[sentence.set] as SetCounts;
    const isSupported = sentence.label === 'supported';
    count[isSupported ? 'supported' : 'unsupported'] += 1;
    if (reason === null) continue;
    count[isSupported ? 'flagged' : 'caught'] += 1;
    const [flagged, caught] = count.reasons[reason.kind] ?? [0, 0];
    count.reasons[reason.kind] = isSupported ? [flagged + 1, caught] : [flagged, caught + 1];
  }
  return counts;
}

function formatSets(counts: Record<string, SetCounts>): string {
  const share = (part: number, total: number) => (total === 0 ? '-' : (part / total).toFixed(3));
  return alignColumns(
    [
      ['set', 'supported', 'flagged', 'unsupported', 'caught', 'reasons (flagged/caught)'],
      ...Object.entries(counts).map(([set, { supported, flagged, unsupported, caught, reasons }]) => [
        set,
        String(supported),
        share(flagged, supported),
        String(unsupported),
        share(caught, unsupported),
        Object.entries(reasons)
          .map(([kind, [wrong, right]]) => `${kind} ${wrong}/${right}`)
          .join(', '),
      ]),
    ],
    [1, 2, 3, 4],
  );
}

/** Changes supported sentences so that they are no longer supported, and counts how many are flagged. */
async function measureMutations(sentences: readonly LabelledSentence[], embedWords: EmbedWords) {
  const supported = sentences.filter(({ label, set }) => label === 'supported' && set !== 'healthver_dev');
  const step = Math.max(1, Math.floor(supported.length / MUTATED));
  const names = [
    ...new Set(supported.flatMap(({ claim }) => findClaimedNames(claim).map(({ name }) => name))),
  ];
  const counts: Record<string, { sentences: number; caught: number }> = {};
  for (const [index, sentence] of supported.entries()) {
    const isPicked = index % step === 0 || sentence.set === 'capable_model';
    // Few sentences have a unit, so all of them are used.
    if (!isPicked && !hasUnit(sentence.claim)) continue;
    const source = sentence.passages.map(({ title, text }) => `${title}\n${text}`).join('\n\n');
    const other = names.slice((index * 7) % names.length).concat(names);
    const check = await createLabelledCheck(sentence, embedWords);
    const before = await check(sentence.claim);
    if (before.reason !== null) continue;
    for (const { kind, text } of createMutations(sentence.claim, source, other)) {
      if (!isPicked && kind !== 'unit') continue;
      counts[kind] ??= { sentences: 0, caught: 0 };
      const count = counts[kind] as { sentences: number; caught: number };
      count.sentences += 1;
      count.caught += Number((await check(text)).reason !== null);
    }
  }
  return counts;
}
