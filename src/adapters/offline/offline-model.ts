import { type Model, type ModelRequest, type protocol, type StreamEvent, Usage } from '@openai/agents-core';
import { noInformationSentence } from '../../domain/abstention.ts';
import { parseCoverage, REWRITE_INSTRUCTIONS } from '../../domain/prompts.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { cutText, oneLine } from '../../text/visible-text.ts';
import { answerFromPassages, type PassageJudge, wordPassageJudge } from './answer-from-passages.ts';
import { type OfflinePassage, type OfflineRequest, parseModelRequest } from './parse-model-request.ts';
import { replyToSmallTalk } from './small-talk.ts';
import { formatTopic, toStandaloneQuery } from './standalone-query.ts';

interface OfflineModelOptions {
  /** Rates passages (default: by words). */
  judge?: PassageJudge;
  newId: () => string;
}

/** Characters of a question that are searched for. */
const MAX_QUERY = 500;

/** Used if a search with the usual threshold finds nothing. */
const LOW_THRESHOLD = 0.2;
interface Search {
  query: string;
  threshold?: number;
}

type Step = { search: Search; tool: string } | { say: string };

/**
 * A model that answers only with quotes: it decides whether to search, resolves follow-ups, and quotes the passages that
 * answer, or shows the closest ones if it is unsure. It gets the same requests as any other model.
 */
export function createOfflineModel({ judge = wordPassageJudge, newId }: OfflineModelOptions): Model {
  async function reply(request: ModelRequest) {
    request.signal?.throwIfAborted();
    const step = await decideStep(parseModelRequest(request), judge);
    const inputTokens =
      estimateTokens(JSON.stringify(request.input)) + estimateTokens(request.systemInstructions ?? '');
    const outputTokens = estimateTokens('say' in step ? step.say : step.search.query);
    const usage = { requests: 1, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    return {
      text: 'say' in step ? step.say : '',
      output: [toOutputItem(step, newId)],
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
      // In whole clauses, since each delta costs time in every listener.
      for (const delta of text.match(/.+?(?:[.!?:;,]\s+|\n+|$)/gs) ?? [])
        yield { type: 'output_text_delta', delta };
      yield { type: 'response_done', response };
    },
  };
}

function toOutputItem(step: Step, newId: () => string): protocol.OutputModelItem {
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

async function decideStep(request: OfflineRequest, judge: PassageJudge): Promise<Step> {
  const { question, history, searches, context, searchTool } = request;
  const earlier = history.map((exchange) => exchange.question);
  const query = cutText(toStandaloneQuery(question.trim(), earlier), MAX_QUERY);
  if (request.instructions === REWRITE_INSTRUCTIONS) return { say: query };
  if (!request.mustSearch || searches.length > 0) {
    const reply = replyToSmallTalk(question, history);
    if (reply !== null) return { say: reply };
  }
  const next = nextSearch(query, searches);
  if (searchTool !== null && context === null && next !== null) return { search: next, tool: searchTool };

  const passages = context ?? passagesOf(searches);
  const answer = await answerFromPassages(query, passages, judge);
  return { say: answer ?? formatNoInformation(query, passages, request) };
}

/** Searches once, then with a lower threshold if nothing was found. */
function nextSearch(query: string, searches: OfflineRequest['searches']): Search | null {
  if (searches.some(({ error }) => error !== null) || passagesOf(searches).length > 0) return null;
  const [search] = [{ query }, { query, threshold: LOW_THRESHOLD }].slice(searches.length);
  return search ?? null;
}

function passagesOf(searches: OfflineRequest['searches']): OfflinePassage[] {
  const byRef = new Map<string, OfflinePassage>();
  for (const { results } of searches) for (const result of results) byRef.set(result.ref, result);
  return [...byRef.values()];
}

function formatNoInformation(
  query: string,
  [nearest]: readonly OfflinePassage[],
  { instructions, searches }: OfflineRequest,
): string {
  const failure = searches.find(({ error }) => error !== null)?.message;
  const covered = parseCoverage(instructions);
  return [
    noInformationSentence(formatTopic(query)),
    failure ?? '',
    nearest === undefined ? '' : `The closest passage is in "${oneLine(nearest.title, 80)}".`,
    covered === null ? '' : `The documents cover ${covered}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
