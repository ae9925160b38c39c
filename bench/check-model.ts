import { parseArgs } from 'node:util';
import type { Model } from '@openai/agents-core';
import { createOpenAiModel } from '../src/adapters/openai/create-openai-model.ts';
import { createModelChecker } from '../src/agent/model-checker.ts';
import { createWordChecker } from '../src/citations/word-checker.ts';
import type { TokensUsed } from '../src/domain/agent-response.ts';
import type { CitedSentence } from '../src/ports/citation-checker.ts';
import { toLabelledChunks } from './support/check-labelled.ts';
import { type LabelledSentence, type LabelledSet, readLabelledSet } from './support/labelled-sentences.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';
import { createRandom } from './support/synthetic.ts';

/*
 * Compares `--check model` with labelled sentences: npm run bench:check-model -- --base-url URL [--model M] [--limit N]
 * [--api responses] [--parallel N]. Sends one request per answer, as the program does. Sentences of AttributionBench come
 * from different answers, so six of them make one. A key is read from OPENAI_API_KEY.
 */

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    model: { type: 'string', default: 'hosted' },
    api: { type: 'string', default: 'chat_completions' },
    /** The most requests. */
    limit: { type: 'string', default: '60' },
    parallel: { type: 'string', default: '2' },
  },
});
const baseUrl = values['base-url'];
if (baseUrl === undefined) throw new Error('Give the endpoint: --base-url http://localhost:18990/v1');

const SEED = 11;
const ATTRIBUTION_ROWS = 100;
const ROWS_PER_ANSWER = 6;
/** Characters; longer documents would not fit the window of a turn. */
const LONGEST_DOCUMENTS = 8000;
/** Slow models on small machines take minutes. */
const TIMEOUT_MS = 1_800_000;

/** Sentences that are checked with one request. */
interface LabelledAnswer {
  set: LabelledSet;
  rows: LabelledSentence[];
}

interface AgreementCounts {
  answers: number;
  supported: number;
  flagged: number;
  unsupported: number;
  caught: number;
  failed: number;
  tokens: number;
}

const model: Model = createOpenAiModel({
  model: values.model,
  baseUrl,
  api: values.api === 'responses' ? 'responses' : 'chat_completions',
  apiKey: process.env.OPENAI_API_KEY,
  timeoutMs: TIMEOUT_MS,
});
const words = createWordChecker({ store: { wordVectors: async () => new Map() }, embedder: null });
const check = createModelChecker(model, words);

const machine = describeMachine();
console.log(formatMachine(machine));
const answers = chooseAnswers(Number(values.limit));
const sets: Partial<Record<LabelledSet, AgreementCounts>> = {};
const disagreements: { id: string; label: string; claim: string; reason: string | null }[] = [];
const waiting = answers.values();
await Promise.all(
  Array.from({ length: Number(values.parallel) }, async () => {
    for (const answer of waiting) await measureAnswer(answer);
  }),
);
const lines = Object.entries(sets).map(([set, one]) => [
  set,
  String(one.answers),
  `${one.flagged} of ${one.supported}`,
  `${one.caught} of ${one.unsupported}`,
  ((one.supported - one.flagged + one.caught) / Math.max(1, one.supported + one.unsupported)).toFixed(3),
  String(one.failed),
  (one.tokens / Math.max(1, one.answers)).toFixed(0),
]);
const header = ['set', 'answers', 'flagged', 'caught', 'agreement', 'failed', 'tokens per answer'];
console.log(alignColumns([header, ...lines], [1, 2, 3, 4, 5, 6]));
const path = await writeResults('check-model.json', { machine, model: values.model, sets, disagreements });
console.log(`\nWritten to ${path}`);

async function measureAnswer({ set, rows }: LabelledAnswer): Promise<void> {
  const sentences = toCitedSentences(rows);
  let tokens = 0;
  const { checks, checkedBy } = await check(sentences, {
    // The questions of several answers would not belong to all of their sentences.
    question: set === 'capable_model' ? (rows[0]?.question ?? '') : '',
    onTokens: ({ total }: TokensUsed) => {
      tokens += total;
    },
    onNotice: console.log,
  });
  sets[set] ??= { answers: 0, supported: 0, flagged: 0, unsupported: 0, caught: 0, failed: 0, tokens: 0 };
  const counts = sets[set];
  counts.answers += 1;
  counts.tokens += tokens;
  if (checkedBy !== 'model') {
    counts.failed += 1;
    return;
  }
  rows.forEach(({ id, label, claim }, index) => {
    const reason = checks[index]?.reason ?? null;
    const isSupported = label === 'supported';
    counts[isSupported ? 'supported' : 'unsupported'] += 1;
    if (reason !== null) counts[isSupported ? 'flagged' : 'caught'] += 1;
    if (isSupported !== (reason === null))
      disagreements.push({ id, label, claim, reason: reason?.text ?? null });
  });
}

/** Their documents are numbered as in an answer; rows with the same document share its number. */
function toCitedSentences(rows: readonly LabelledSentence[]): CitedSentence[] {
  const refs = new Map<string, string>();
  return rows.map(({ claim, documents }) => {
    const chunks = toLabelledChunks(documents).map((chunk) => {
      const ref = refs.get(chunk.text) ?? String(refs.size + 1);
      refs.set(chunk.text, ref);
      return { ...chunk, chunkId: ref };
    });
    return { text: claim, refs: chunks.map(({ chunkId }) => chunkId), chunks };
  });
}

/** Answers with a sentence that is not supported come first. */
function chooseAnswers(limit: number): LabelledAnswer[] {
  const attribution = toGroups(chooseAttributionRows(), ROWS_PER_ANSWER).slice(0, Math.ceil(limit / 3));
  const rows = readLabelledSet('capable_model') ?? [];
  const byAnswer = Object.values(
    Object.groupBy(rows, ({ id }) => id.replace(/:\d+$/, '')),
  ) as LabelledSentence[][];
  const isClean = (group: readonly LabelledSentence[]) => group.every(({ label }) => label === 'supported');
  const ordered = shuffle(byAnswer).sort((a, b) => Number(isClean(a)) - Number(isClean(b)));
  return [
    ...ordered
      .slice(0, limit - attribution.length)
      .map((group) => ({ set: 'capable_model' as const, rows: group })),
    ...attribution.map((group) => ({ set: 'attributionbench_dev' as const, rows: group })),
  ];
}

/** As many supported rows as others, in random order. */
function chooseAttributionRows(): LabelledSentence[] {
  const rows = shuffle(readLabelledSet('attributionbench_dev') ?? []).filter(
    ({ documents }) => documents.reduce((sum, { text }) => sum + text.length, 0) <= LONGEST_DOCUMENTS,
  );
  const half = (isSupported: boolean) =>
    rows.filter(({ label }) => (label === 'supported') === isSupported).slice(0, ATTRIBUTION_ROWS / 2);
  return shuffle([...half(true), ...half(false)]);
}

function toGroups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

function shuffle<T>(items: readonly T[]): T[] {
  const random = createRandom(SEED);
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
