import { type Model, type ModelRequest, type protocol, type StreamEvent, Usage } from '@openai/agents-core';
import { noInformationAbout } from '../../domain/abstention.ts';
import { coverageIn, REWRITE_INSTRUCTIONS } from '../../domain/prompts.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { cutText, oneLine } from '../../text/visible-text.ts';
import { answerFromPassages, type Found, type PassageJudge, wordsAlone } from './answer-from-passages.ts';
import { type Passage, type ReadRequest, readRequest } from './read-request.ts';
import { replyToSmallTalk } from './small-talk.ts';
import { askedPart, namedTopic, standaloneQuery } from './standalone-query.ts';

interface OfflineModelOptions {
  /** Without one, words alone tell what answers. */
  judge?: PassageJudge;
  newId: () => string;
}

/** A longer question is searched for by its beginning. */
const MAX_QUERY = 500;
const MAX_SEARCHES = 3;

/** What is further from the question than the usual is looked at only where nothing else is found. */
const LOW_THRESHOLD = 0.2;
/** A follow-up is taken as it stands if that is so much more likely to be answered than with what it refers to. */
const PLAIN_AHEAD = 0.1;

interface Search {
  query: string;
  threshold?: number;
}

type Step = { search: Search; tool: string } | { say: string };

/**
 * A model that writes nothing of its own: it decides whether to search, resolves a follow-up against the
 * conversation, and answers with parts of passages, word for word. Where it is unsure whether they answer, it shows the
 * closest passages and says so. It sees what any model sees and runs in the same loop.
 */
export function createOfflineModel({ judge = wordsAlone, newId }: OfflineModelOptions): Model {
  async function reply(request: ModelRequest) {
    request.signal?.throwIfAborted();
    const step = await decide(readRequest(request), judge);
    const inputTokens =
      estimateTokens(JSON.stringify(request.input)) + estimateTokens(request.systemInstructions ?? '');
    const outputTokens = estimateTokens('say' in step ? step.say : step.search.query);
    const usage = { requests: 1, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    return {
      text: 'say' in step ? step.say : '',
      output: [outputItem(step, newId)],
      id: `offline_${newId()}`,
      usage,
    };
  }

  return {
    async getResponse(request) {
      const { output, id, usage } = await reply(request);
      return { output, responseId: id, usage: new Usage(usage) };
    },
    async *getStreamedResponse(request): AsyncGenerator<StreamEvent> {
      yield { type: 'response_started' };
      const { text, ...response } = await reply(request);
      // By sentences, since all of it is there: each piece costs a turn of everything that hears of it.
      for (const delta of text.match(/.+?(?:[.!?:;,]\s+|\n+|$)/gs) ?? [])
        yield { type: 'output_text_delta', delta };
      yield { type: 'response_done', response };
    },
  };
}

function outputItem(step: Step, newId: () => string): protocol.OutputModelItem {
  if ('search' in step) {
    const args = JSON.stringify(step.search);
    return {
      type: 'function_call',
      callId: `call_${newId()}`,
      name: step.tool,
      arguments: args,
      status: 'completed',
    };
  }
  const content: protocol.AssistantContent[] = [{ type: 'output_text', text: step.say }];
  return { type: 'message', role: 'assistant', status: 'completed', content };
}

async function decide(request: ReadRequest, judge: PassageJudge): Promise<Step> {
  const { question, history, searches, context, searchTool } = request;
  const asked = cutText(askedPart(question), MAX_QUERY);
  const query = cutText(
    standaloneQuery(
      asked,
      history.map((exchange) => askedPart(exchange.question)),
    ),
    MAX_QUERY,
  );
  if (request.instructions === REWRITE_INSTRUCTIONS) return { say: query };
  if (!request.mustSearch || searches.length > 0) {
    const reply = replyToSmallTalk(question, history);
    if (reply !== null) return { say: reply };
  }
  const next = nextSearch(query, asked, searches);
  if (searchTool !== null && context === null && next !== null) return { search: next, tool: searchTool };

  const passages = context ?? passagesOf(searches);
  const { said } = await bestReading(query, asked, request, judge);
  return { say: said ?? nothingKnown(query, passages, request) };
}

/** What was found for a follow-up as it is understood, unless it is likelier to be answered as it stands. */
async function bestReading(
  query: string,
  asked: string,
  { searches, context }: ReadRequest,
  judge: PassageJudge,
): Promise<Found> {
  const found = (passages: readonly Passage[], reading: string) =>
    answerFromPassages(reading, passages, judge);
  if (context !== null) return found(context, query);
  const plain = searches.filter((search) => query !== asked && search.query === asked);
  const understood = await found(passagesOf(searches.filter((search) => !plain.includes(search))), query);
  if (plain.length === 0) return understood;
  const standing = await found(passagesOf(plain), asked);
  return standing.chance > understood.chance + PLAIN_AHEAD ? standing : understood;
}

/** The question, and a follow-up also as it stands; if that brought nothing, the question once more with a lower bar. */
function nextSearch(query: string, asked: string, searches: ReadRequest['searches']): Search | null {
  if (searches.length >= MAX_SEARCHES || searches.some(({ error }) => error !== null)) return null;
  const times = (text: string) => searches.filter((search) => search.query === text).length;
  if (times(query) === 0) return { query };
  if (times(asked) === 0) return { query: asked };
  if (times(query) > 1 || passagesOf(searches).length > 0) return null;
  return { query, threshold: LOW_THRESHOLD };
}

function passagesOf(searches: ReadRequest['searches']): Passage[] {
  const byRef = new Map<string, Passage>();
  for (const { results } of searches) for (const result of results) byRef.set(result.ref, result);
  return [...byRef.values()];
}

function nothingKnown(
  query: string,
  [nearest]: readonly Passage[],
  { instructions, searches }: ReadRequest,
): string {
  const failure = searches.find(({ error }) => error !== null)?.message;
  const covered = coverageIn(instructions);
  return [
    noInformationAbout(namedTopic(query)),
    failure ?? '',
    nearest === undefined ? '' : `What comes nearest is in "${oneLine(nearest.title, 80)}".`,
    covered === null ? '' : `The documents cover ${covered}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
