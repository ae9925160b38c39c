import { parseArgs } from 'node:util';
import type { Model } from '@openai/agents';
import { createMemorySessionStore } from '../src/adapters/memory/memory-session-store.ts';
import { createOfflineModel } from '../src/adapters/offline/offline-model.ts';
import { MINILM } from '../src/adapters/onnx/minilm-embedder.ts';
import type { Agent } from '../src/agent/agent.ts';
import { completeTurn } from '../src/agent/complete-turn.ts';
import { createConversationAgent } from '../src/agent/create-agent.ts';
import { createPassageJudge } from '../src/app/models.ts';
import { systemRuntime } from '../src/app/system-runtime.ts';
import { agentConfigSchema } from '../src/domain/agent-config.ts';
import type { ConversationTurn } from '../src/domain/conversation-turn.ts';
import { createJudge } from '../src/judge/create-judge.ts';
import type { ChunkStore } from '../src/ports/chunk-store.ts';
import { createRetriever } from '../src/retrieval/create-retriever.ts';
import { estimateTokens } from '../src/text/estimate-tokens.ts';
import { type AbstentionQuestion, openBeside } from './support/abstention-set.ts';
import { median } from './support/measure.ts';
import { loadEmbedder } from './support/minilm.ts';
import { alignColumns, describeMachine, formatMachine, writeResults } from './support/results.ts';
import { DATA } from './support/retrieval-set.ts';

/*
 * Whole conversations of people, one session each, asked of the offline model turn by turn: what a prompt carries of the
 * past, and what is found. `npm run bench:conversations`; `--every 12` indexes the passages that answer and a twelfth of
 * the others.
 */

const SET = 'multiturn';
const { values } = parseArgs({ options: { every: { type: 'string', default: '1' } } });

/** How the offline model asks by itself, and how a hosted one with a large window is asked. */
const SETTINGS = {
  'whole passages, 8,192 tokens': { toolName: 'retrieve_context', topK: 8, contextWindow: 8192 },
  'short results, 128,000 tokens': { toolName: 'search_docs', topK: 5, contextWindow: 128_000 },
};

interface Taken {
  /** From 1 within its conversation. */
  number: number;
  question: AbstentionQuestion;
  turn: ConversationTurn;
  /** In the first request of the turn. */
  carriedTokens: number;
  /** Of these, what a service that keeps the request before has yet to read. */
  freshTokens: number;
  /** The question before it was in that request. */
  remembersLast: boolean;
}

const machine = describeMachine();
console.log(formatMachine(machine));
const embedder = await loadEmbedder();
const set = await openBeside(SET, embedder, { every: Number(values.every) });
if (set === null) {
  console.log(`Not measured: ${DATA} has no ${SET}.`);
} else {
  const conversations = [...Map.groupBy(set.questions, ({ id }) => id.split('<::>')[0]).values()];
  const measured: Record<string, unknown> = {};
  for (const [name, settings] of Object.entries(SETTINGS)) {
    const taken: Taken[] = [];
    for (const conversation of conversations) {
      taken.push(...(await converse(set.store, settings, conversation)));
      console.error(`${name}: ${taken.length} of ${set.questions.length} asked`);
    }
    measured[name] = summarize(name, taken, set.documentOf);
  }
  await set.store.close();
  console.log(`\nWritten to ${await writeResults('conversations.json', { machine, measured })}`);
}
await embedder.close();

async function converse(
  store: ChunkStore,
  settings: object,
  conversation: readonly AbstentionQuestion[],
): Promise<Taken[]> {
  const requests: string[] = [];
  const agent = createAgent(store, settings, (input) => requests.push(input));
  const session = await agent.startSession();
  const taken: Taken[] = [];
  for (const [index, question] of conversation.entries()) {
    const before = requests.at(-1) ?? '';
    requests.length = 0;
    const turn = await completeTurn(session.ask(question.question));
    const [first = ''] = requests;
    const last = conversation[index - 1]?.question;
    taken.push({
      number: index + 1,
      question,
      turn,
      carriedTokens: estimateTokens(first) - estimateTokens(question.question),
      freshTokens: estimateTokens(first.slice(sharedLength(before, first))),
      remembersLast: last === undefined || first.includes(JSON.stringify(last.trim())),
    });
  }
  return taken;
}

/** How far two texts are the same from their beginning. */
function sharedLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function createAgent(store: ChunkStore, settings: object, onRequest: (input: string) => void): Agent {
  const judge = createJudge(embedder);
  const findJudge = async () => judge;
  const offline = createOfflineModel({ newId: systemRuntime.newId, judge: createPassageJudge(findJudge) });
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
      scoreThreshold: MINILM.scoreThreshold,
    }),
    findJudge,
    sessions: createMemorySessionStore(),
    runtime: systemRuntime,
  });
}

function summarize(name: string, taken: readonly Taken[], documentOf: (url: string) => string) {
  const followUps = taken.filter(({ number }) => number > 1);
  const answerable = followUps.filter(({ question }) => question.relevant.size > 0);
  const holds = (question: AbstentionQuestion, urls: readonly string[]) =>
    urls.some((url) => question.relevant.has(documentOf(url)));
  const share = (list: readonly Taken[], test: (one: Taken) => boolean) =>
    Number((list.filter(test).length / list.length).toFixed(3));
  const at = (number: number) => taken.filter((one) => one.number === number);
  const tokens = (list: readonly Taken[]) =>
    Math.round(median(list.map(({ turn }) => turn.response.tokensUsed.prompt)));
  const carried = (list: readonly Taken[]) => Math.round(median(list.map((one) => one.carriedTokens)));
  const result = {
    'follow-ups': followUps.length,
    'prompt tokens a turn, p50': tokens(taken),
    'prompt tokens at turn 5, p50': tokens(at(5)),
    'prompt tokens at turn 8, p50': tokens(at(8)),
    'carried tokens, p50': carried(followUps),
    'carried tokens at turn 5, p50': carried(at(5)),
    'carried tokens at turn 8, p50': carried(at(8)),
    'fresh tokens of them, p50': Math.round(median(followUps.map((one) => one.freshTokens))),
    'fresh tokens at turn 8, p50': Math.round(median(at(8).map((one) => one.freshTokens))),
    'carried tokens, most': Math.max(...taken.map((one) => one.carriedTokens)),
    'prompts that hold the question before': share(followUps, (one) => one.remembersLast),
    'an answering document found': share(answerable, ({ question, turn }) =>
      holds(question, turn.response.retrievedSources),
    ),
    'an answering document cited': share(answerable, ({ question, turn }) =>
      holds(
        question,
        turn.response.citations.map(({ url }) => url),
      ),
    ),
    'told as an answer': share(answerable, ({ turn }) => turn.response.outcome === 'answer'),
    grounded: share(answerable, ({ turn }) => turn.response.grounded),
  };
  const lines = Object.entries(result).map(([metric, value]) => [metric, String(value)]);
  console.log(`\n${alignColumns([[name, ''], ...lines], [1])}`);
  return result;
}
