import { parseArgs } from 'node:util';
import { toStandaloneQuery } from '../src/adapters/offline/standalone-query.ts';
import type { Embedder } from '../src/ports/embedder.ts';
import {
  type AbstentionQuestion,
  type AbstentionSet,
  openSampleBookSet,
  openSharedSet,
} from './support/abstention-set.ts';
import { loadDefaultEmbedder } from './support/load-embedder.ts';
import { measureMode, RETRIEVAL_METRICS, type RetrievalScores } from './support/measure-quality.ts';
import { createOfflineAsker, type OfflineAnswer } from './support/offline-asker.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';
import { SHARED_DATA } from './support/retrieval-set.ts';

/** The most answerable, and the most unanswerable, questions of a set. */
const MAX_PER_KIND = 500;
const BESIDE = ['multiturn', 'squad2_dev'];

interface Outcome {
  question: AbstentionQuestion;
  asked: OfflineAnswer;
}

const { positionals } = parseArgs({ allowPositionals: true });
const names = positionals.length > 0 ? positionals : ['book', ...BESIDE];
const machine = describeMachine();
console.log(formatMachine(machine));
const embedder = await loadDefaultEmbedder();
const measured: Record<string, unknown> = {};
for (const name of names) {
  const set = name === 'book' ? await openSampleBookSet(embedder) : await openSharedSet(name, embedder);
  if (set === null) {
    console.log(`\n${name}: skipped, not in ${SHARED_DATA}.`);
    continue;
  }
  measured[name] = { ...(await measureAbstention(set)), followUps: await measureFollowUps(set, embedder) };
  await set.store.close();
}
await embedder.close();
console.log(`\nWritten to ${await writeResults('abstention.json', { machine, measured })}`);

/** Asks the offline agent and measures abstention, search and citation. */
async function measureAbstention(set: AbstentionSet) {
  const ask = createOfflineAsker(set.store, embedder);
  const questions = pick(set.questions);
  const outcomes: Outcome[] = [];
  for (const question of questions) {
    outcomes.push({ question, asked: await ask(question.question, question.history) });
    if (outcomes.length % 100 === 0)
      console.error(`${set.name}: ${outcomes.length} of ${questions.length} asked`);
  }
  const judged = outcomes.filter(({ question }) => question.answerable !== null);
  const unanswerable = judged.filter(({ question }) => question.answerable === false);
  const abstained = judged.filter(({ asked }) => asked.abstained);
  const right = unanswerable.filter(({ asked }) => asked.abstained).length;
  const needless = outcomes.filter(({ question }) => question.needsRetrieval === false);
  const needed = outcomes.filter(({ question }) => question.needsRetrieval === true);
  const citations = outcomes.flatMap(({ asked }) => asked.citations).length;
  const result = {
    questions: judged.length,
    unanswerable: unanswerable.length,
    abstained: abstained.length,
    precision: share(right, abstained.length),
    recall: share(right, unanswerable.length),
    f1: share(2 * right, abstained.length + unanswerable.length),
    'sources in the top 5': sourcesFound(set, judged),
    'over-search': share(needless.filter(({ asked }) => asked.queries.length > 0).length, needless.length),
    'under-search': share(needed.filter(({ asked }) => asked.queries.length === 0).length, needed.length),
    'citation precision': share(
      outcomes.reduce((sum, { asked }) => sum + asked.passed, 0),
      citations,
    ),
  };
  const lines = Object.entries(result).map(([metric, value]) => [metric, format(value)]);
  console.log(`\n${alignColumns([[set.name, ''], ...lines], [1])}`);
  return result;
}

/** The mean share of expected documents among the first five passages of answerable questions. */
function sourcesFound(set: AbstentionSet, outcomes: readonly Outcome[]): number | null {
  const shares = outcomes
    .filter(({ question }) => question.answerable && question.relevant.size > 0)
    .map(({ question, asked }) => {
      const found = new Set(asked.chunks.slice(0, 5).map(({ url }) => set.documentOf(url)));
      return [...question.relevant].filter((document) => found.has(document)).length / question.relevant.size;
    });
  return share(
    shares.reduce((sum, value) => sum + value, 0),
    shares.length,
  );
}

/** Measures the search for follow-ups unchanged, resolved by rules, and rewritten by people. */
async function measureFollowUps(set: AbstentionSet, embedder: Embedder) {
  const followUps = set.questions.filter(({ history, relevant }) => history.length > 0 && relevant.size > 0);
  if (followUps.length === 0) return null;
  const wordings: Record<string, (question: AbstentionQuestion) => string> = {
    unchanged: ({ question }) => question,
    'by rule': ({ question, history }) =>
      toStandaloneQuery(
        question,
        history.filter(({ role }) => role === 'user').map(({ content }) => content),
      ),
    ...(followUps.some(({ rewrite }) => rewrite !== null) && {
      rewritten: ({ question, rewrite }: AbstentionQuestion) => rewrite ?? question,
    }),
  };
  const scores: Record<string, RetrievalScores> = {};
  for (const [wording, textOf] of Object.entries(wordings)) {
    const queries = followUps.map((question) => ({
      text: textOf(question),
      rewrite: null,
      relevance: new Map([...question.relevant].map((document) => [document, 1])),
    }));
    scores[wording] = await measureMode('hybrid', set, embedder, queries);
  }
  const lines = Object.entries(scores).map(([wording, values]) => [wording, ...values.map(format)]);
  console.log(
    `\n${alignColumns([[`${followUps.length} follow-ups`, ...RETRIEVAL_METRICS], ...lines], [1, 2, 3])}`,
  );
  return scores;
}

function pick(questions: readonly AbstentionQuestion[]): AbstentionQuestion[] {
  if (questions.length <= 2 * MAX_PER_KIND) return [...questions];
  return [true, false].flatMap((answerable) => {
    const kind = questions.filter((question) => question.answerable === answerable);
    const most = Math.min(MAX_PER_KIND, kind.length);
    return Array.from(
      { length: most },
      (_, index) => kind[Math.floor((index * kind.length) / most)] as AbstentionQuestion,
    );
  });
}

/** Null if the whole is 0. */
function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function format(value: number | null): string {
  if (value === null) return 'no data';
  return Number.isInteger(value) && value > 1 ? String(value) : value.toFixed(3);
}
