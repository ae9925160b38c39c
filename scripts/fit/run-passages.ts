import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadDefaultEmbedder } from '../../bench/support/load-embedder.ts';
import { alignColumns } from '../../bench/support/results.ts';
import { FIRST_WORDS, SECOND_SHARE, SECOND_WORDS } from '../../src/adapters/offline/answer-from-passages.ts';
import { formatExcerpt } from '../../src/adapters/offline/format-excerpt.ts';
import { logisticFunction } from '../../src/judge/network.ts';
import { splitPassageUnits } from '../../src/text/passage-units.ts';
import { createEncodingCache } from './encoding-cache.ts';
import { CACHE, cacheFeatures } from './feature-cache.ts';
import { calibrate } from './fit-network.ts';
import { areaUnderCurve, calibrationError } from './metrics.ts';
import { fitPassages, type PassageExample, passageExamples } from './passage-fit.ts';
import {
  bookQuestions,
  documentsOf,
  holdsAnswer,
  questionSets,
  readQuestions,
  type SearchedQuestion,
  searchQuestions,
} from './question-sets.ts';
import { DATA } from './support-sets.ts';

/*
 * Fits the network that rates passages, on the questions in `fixtures/questions` and about the sample book:
 * `npm run fit:passages -- --documents <directory>`, which contains a directory for each set.
 */

const WEIGHTS = fileURLToPath(new URL('../../src/judge/weights/passages.json', import.meta.url));
const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const { values } = parseArgs({ options: { documents: { type: 'string', default: `${DATA}/questions` } } });

const questions: SearchedQuestion[] = [];
const examples: PassageExample[][] = [];
const embedder = await loadDefaultEmbedder();
const encoder = createEncodingCache(embedder, CACHE);
const absent: string[] = [];
for (const set of ['book', ...questionSets()]) {
  const documents = set === 'book' ? `${FIXTURES}book` : documentsOf(set, values.documents);
  if (documents === null) {
    absent.push(set);
    continue;
  }
  const asked = set === 'book' ? bookQuestions() : readQuestions(`${FIXTURES}questions/${set}.jsonl`);
  const searched = await searchQuestions(set, asked, documents, embedder);
  questions.push(...searched);
  examples.push(
    ...(await cacheFeatures('passages', `passages-${set}`, searched, () =>
      passageExamples(searched, encoder),
    )),
  );
}
await embedder.close();
if (absent.length > 0) {
  throw new Error(`${values.documents} has no documents of ${absent.join(', ')}: nothing is fitted.`);
}

/** The answer that the offline model would give. */
interface Composed {
  set: string;
  answerable: boolean;
  right: boolean;
  /** One of the two best passages contains the answer. */
  shown: boolean;
  odds: number;
}

const { network, chances } = fitPassages(questions, examples);
const composed = questions.map((question, row) => compose(question, examples[row] ?? [], chances[row] ?? []));
const ofDocuments = composed.filter(({ set }) => set !== 'book');
const together = calibrate(
  ofDocuments.map(({ odds }) => odds),
  ofDocuments.map(({ right }) => ({ positive: right, weight: 1 })),
);
writeFileSync(WEIGHTS, `${JSON.stringify({ ...network, together })}\n`);

const lines = ['documents', ...new Set(questions.map(({ set }) => set))].map((part) => {
  const rows = composed.filter(({ set }) => set === part || (part === 'documents' && set !== 'book'));
  const scored = rows.map(({ right, odds }) => ({ positive: right, chance: chanceOf(odds), weight: 1 }));
  const numbers = [
    rows.length,
    rows.filter(({ answerable }) => answerable).length,
    rows.filter(({ right }) => right).length,
    rows.filter(({ shown }) => shown).length,
  ];
  return [
    part,
    ...numbers.map(String),
    areaUnderCurve(scored).toFixed(3),
    calibrationError(scored).toFixed(3),
  ];
});
const header = [
  'without the set',
  'questions',
  'answerable',
  'told right',
  'in two passages',
  'AUC',
  'calibration error',
];
print(alignColumns([header, ...lines], [1, 2, 3, 4, 5, 6]));
const bars = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8].map((bar) => {
  const counts = [ofDocuments, composed.filter(({ set }) => set === 'book')].flatMap((rows) => {
    const answered = rows.filter(({ odds }) => chanceOf(odds) >= bar);
    const right = answered.filter((one) => one.right).length;
    const others = rows.filter((one) => !answered.includes(one) && one.shown).length;
    return [
      `${right} of ${answered.length}`,
      (right / answered.length).toFixed(2),
      String(answered.filter(({ answerable }) => !answerable).length),
      String(right + others),
    ];
  });
  return [bar.toFixed(2), ...counts];
});
const columns = ['right', 'share', 'unanswerable answered', 'shown right'];
print(
  alignColumns(
    [['answers from', ...columns, ...columns.map((name) => `book: ${name}`)], ...bars],
    [1, 2, 3, 4, 5, 6, 7, 8],
  ),
);

const nothing = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3].map((bar) => {
  const lost = [ofDocuments, composed.filter(({ set }) => set === 'book')].flatMap((rows) => {
    const below = rows.filter(({ odds }) => chanceOf(odds) < bar);
    return [below.filter(({ shown }) => shown).length, below.filter((one) => !one.answerable).length];
  });
  return [bar.toFixed(2), ...lost.map(String)];
});
const silent = ['right passages not shown', 'unanswerable refused'];
print(
  alignColumns(
    [['nothing below', ...silent, ...silent.map((name) => `book: ${name}`)], ...nothing],
    [1, 2, 3, 4],
  ),
);

function compose(
  question: SearchedQuestion,
  found: readonly PassageExample[],
  chances: readonly number[],
): Composed {
  const order = found.map((_, index) => index).sort((a, b) => (chances[b] ?? 0) - (chances[a] ?? 0));
  const [first = 0, second] = order;
  const chance = chances[first] ?? 0;
  const joins = second !== undefined && (chances[second] ?? 0) >= SECOND_SHARE * chance;
  const tell = (index: number, words: number) => {
    const passage = question.found[index];
    const unit = passage && splitPassageUnits(passage.text)[found[index]?.unit ?? -1];
    return passage === undefined || unit === undefined
      ? ''
      : formatExcerpt({ ...passage, ref: '1' }, unit, words);
  };
  const told = joins
    ? [tell(first, FIRST_WORDS), tell(second, SECOND_WORDS)]
    : [tell(first, FIRST_WORDS + SECOND_WORDS)];
  const none = (1 - chance) * (joins ? 1 - (chances[second] ?? 0) : 1);
  return {
    set: question.set,
    answerable: question.kind !== 'unanswerable',
    right: holdsAnswer(question, told.join('\n\n')),
    shown: order.slice(0, 2).some((index) => found[index]?.right),
    odds: Math.log(Math.max(1 - none, 1e-6) / Math.max(none, 1e-6)),
  };
}

function chanceOf(odds: number): number {
  return logisticFunction(together.slope * odds + together.intercept);
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
