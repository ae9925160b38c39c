import { parseArgs } from 'node:util';
import type { Model } from '@openai/agents';
import { createOfflineModel } from '../src/adapters/offline/offline-model.ts';
import { MINILM_DESCRIPTION } from '../src/adapters/onnx/minilm-embedder.ts';
import { createMemorySessionStore } from '../src/adapters/sqlite/sqlite-session-store.ts';
import type { Agent } from '../src/agent/agent.ts';
import { createConversationAgent } from '../src/agent/create-agent.ts';
import { waitForTurn } from '../src/agent/wait-for-turn.ts';
import { systemRuntime } from '../src/app/system-runtime.ts';
import { createWordChecker } from '../src/citations/word-checker.ts';
import { agentConfigSchema } from '../src/domain/agent-config.ts';
import type { ConversationTurn } from '../src/domain/conversation-turn.ts';
import type { ChunkStore } from '../src/ports/chunk-store.ts';
import { createRetriever } from '../src/retrieval/create-retriever.ts';
import { estimateTokens } from '../src/text/estimate-tokens.ts';
import { type AbstentionQuestion, openSharedSet } from './support/abstention-set.ts';
import { loadDefaultEmbedder } from './support/load-embedder.ts';
import { median } from './support/measure.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';
import { SHARED_DATA } from './support/retrieval-set.ts';

/*
 * Replays human conversations with the offline model, one session each, and measures the history in prompts and what is
 * found. Usage: npm run bench:conversations -- [--every 12], which indexes the answering passages and every twelfth other.
 */

const SET = 'multiturn';
const { values } = parseArgs({ options: { every: { type: 'string', default: '1' } } });

/** The defaults of the offline model, and those of a hosted model with a large window. */
const SETTINGS = {
  'whole passages, 8,192 tokens': { toolName: 'retrieve_context', topK: 8, contextWindow: 8192 },
  'short results, 128,000 tokens': { toolName: 'search_docs', topK: 5, contextWindow: 128_000 },
};

interface MeasuredTurn {
  /** From 1 within its conversation. */
  number: number;
  question: AbstentionQuestion;
  turn: ConversationTurn;
  /** History tokens in the first request of the turn. */
  historyTokens: number;
  /** Those of them after the common prefix with the request before. */
  newTokens: number;
  /** Whether that request contains the question before. */
  hasLastQuestion: boolean;
}

const machine = describeMachine();
console.log(formatMachine(machine));
const embedder = await loadDefaultEmbedder();
const set = await openSharedSet(SET, embedder, { every: Number(values.every) });
if (set === null) {
  console.log(`Skipped: ${SHARED_DATA} has no ${SET}.`);
} else {
  const conversations = [...Map.groupBy(set.questions, ({ id }) => id.split('<::>')[0]).values()];
  const measured: Record<string, unknown> = {};
  for (const [name, settings] of Object.entries(SETTINGS)) {
    const turns: MeasuredTurn[] = [];
    for (const conversation of conversations) {
      turns.push(...(await converse(set.store, settings, conversation)));
      console.error(`${name}: asked ${turns.length} of ${set.questions.length}`);
    }
    measured[name] = summarize(name, turns, set.documentOf);
  }
  await set.store.close();
  console.log(`\nWritten to ${await writeResults('conversations.json', { machine, measured })}`);
}
await embedder.close();

async function converse(
  store: ChunkStore,
  settings: object,
  conversation: readonly AbstentionQuestion[],
): Promise<MeasuredTurn[]> {
  const requests: string[] = [];
  const agent = createAgent(store, settings, (input) => requests.push(input));
  const session = await agent.startSession();
  const turns: MeasuredTurn[] = [];
  for (const [index, question] of conversation.entries()) {
    const before = requests.at(-1) ?? '';
    requests.length = 0;
    const turn = await waitForTurn(session.ask(question.question));
    const [first = ''] = requests;
    const last = conversation[index - 1]?.question;
    turns.push({
      number: index + 1,
      question,
      turn,
      historyTokens: estimateTokens(first) - estimateTokens(question.question),
      newTokens: estimateTokens(first.slice(commonPrefixLength(before, first))),
      hasLastQuestion: last === undefined || first.includes(JSON.stringify(last.trim())),
    });
  }
  return turns;
}

/** The length of the common prefix. */
function commonPrefixLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function createAgent(store: ChunkStore, settings: object, onRequest: (input: string) => void): Agent {
  const offline = createOfflineModel({ newId: systemRuntime.newId });
  const model: Model = {
    ...offline,
    getStreamedResponse(request) {
      onRequest(JSON.stringify(request.input));
      return offline.getStreamedResponse(request);
    },
  };
  return createConversationAgent({
    config: agentConfigSchema.parse(settings),
    model,
    store,
    retriever: createRetriever({
      store,
      embedder: async () => embedder,
      mode: 'hybrid',
      scoreThreshold: MINILM_DESCRIPTION.scoreThreshold,
    }),
    checker: createWordChecker({ store, embedder: async () => embedder }),
    sessions: createMemorySessionStore(),
    runtime: systemRuntime,
  });
}

function summarize(name: string, turns: readonly MeasuredTurn[], documentOf: (url: string) => string) {
  const followUps = turns.filter(({ number }) => number > 1);
  const answerable = followUps.filter(({ question }) => question.relevant.size > 0);
  const isAnswering = (question: AbstentionQuestion, urls: readonly string[]) =>
    urls.some((url) => question.relevant.has(documentOf(url)));
  const share = (list: readonly MeasuredTurn[], test: (one: MeasuredTurn) => boolean) =>
    Number((list.filter(test).length / list.length).toFixed(3));
  const at = (number: number) => turns.filter((one) => one.number === number);
  const tokens = (list: readonly MeasuredTurn[]) =>
    Math.round(median(list.map(({ turn }) => turn.response.tokensUsed.prompt)));
  const history = (list: readonly MeasuredTurn[]) => Math.round(median(list.map((one) => one.historyTokens)));
  const result = {
    'follow-ups': followUps.length,
    'prompt tokens a turn, p50': tokens(turns),
    'prompt tokens at turn 5, p50': tokens(at(5)),
    'prompt tokens at turn 8, p50': tokens(at(8)),
    'history tokens, p50': history(followUps),
    'history tokens at turn 5, p50': history(at(5)),
    'history tokens at turn 8, p50': history(at(8)),
    'new tokens, p50': Math.round(median(followUps.map((one) => one.newTokens))),
    'new tokens at turn 8, p50': Math.round(median(at(8).map((one) => one.newTokens))),
    'history tokens, max': Math.max(...turns.map((one) => one.historyTokens)),
    'prompts with the question before': share(followUps, (one) => one.hasLastQuestion),
    'an answering document found': share(answerable, ({ question, turn }) =>
      isAnswering(question, turn.response.retrievedSources),
    ),
    'an answering document cited': share(answerable, ({ question, turn }) =>
      isAnswering(
        question,
        turn.response.citations.map(({ url }) => url),
      ),
    ),
    'outcome answer': share(answerable, ({ turn }) => turn.response.outcome === 'answer'),
    grounded: share(answerable, ({ turn }) => turn.response.grounded),
  };
  const lines = Object.entries(result).map(([metric, value]) => [metric, String(value)]);
  console.log(`\n${alignColumns([[name, ''], ...lines], [1])}`);
  return result;
}
