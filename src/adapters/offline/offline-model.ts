import { type Model, type ModelRequest, type protocol, type StreamEvent, Usage } from '@openai/agents';
import { noInformationAbout } from '../../domain/abstention.ts';
import { coverageIn, REWRITE_INSTRUCTIONS } from '../../domain/prompts.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { STOP_WORDS } from '../../text/terms.ts';
import { cutText, oneLine } from '../../text/visible-text.ts';
import { extractAnswer, type Similarity } from './extract-answer.ts';
import { type Passage, type ReadRequest, readRequest } from './read-request.ts';
import { smallTalk } from './small-talk.ts';
import { namedTopic, standaloneQuery } from './standalone-query.ts';

interface OfflineModelOptions {
  similarity: Similarity;
  newId: () => string;
}

/** A longer question is searched for by its beginning. */
const MAX_QUERY = 500;
const MAX_SEARCHES = 2;

type Step = { search: string; tool: string } | { say: string };

/**
 * A model that writes nothing of its own: it decides whether to search, resolves a follow-up against the
 * conversation, and answers with sentences taken word for word from what was retrieved. It sees what any model
 * sees and runs in the same loop.
 */
export function createOfflineModel({ similarity, newId }: OfflineModelOptions): Model {
  async function reply(request: ModelRequest) {
    request.signal?.throwIfAborted();
    const step = await decide(readRequest(request), similarity);
    const inputTokens =
      estimateTokens(JSON.stringify(request.input)) + estimateTokens(request.systemInstructions ?? '');
    const outputTokens = estimateTokens('say' in step ? step.say : step.search);
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
      for (const delta of text.match(/\S+\s*/g) ?? []) yield { type: 'output_text_delta', delta };
      yield { type: 'response_done', response };
    },
  };
}

function outputItem(step: Step, newId: () => string): protocol.OutputModelItem {
  if ('search' in step) {
    const args = JSON.stringify({ query: step.search });
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

async function decide(request: ReadRequest, similarity: Similarity): Promise<Step> {
  const { question, history, searches, context, searchTool } = request;
  const query = cutText(
    standaloneQuery(
      question,
      history.map((exchange) => exchange.question),
    ),
    MAX_QUERY,
  );
  if (request.instructions === REWRITE_INSTRUCTIONS) return { say: query };
  if (!request.mustSearch || searches.length > 0) {
    const reply = smallTalk(question, history);
    if (reply !== null) return { say: reply };
  }
  const next = nextSearch(query, question, searches);
  if (searchTool !== null && context === null && next !== null) return { search: next, tool: searchTool };

  const passages = context ?? passagesOf(searches);
  const answer =
    passages.length === 0 ? null : await extractAnswer({ question, query }, passages, similarity);
  return { say: answer ?? nothingKnown(query, passages, request) };
}

/** The question first; if that brought nothing, once more in the person's own words, or else by its telling words. */
function nextSearch(query: string, question: string, searches: ReadRequest['searches']): string | null {
  if (searches.some(({ results }) => results.length > 0)) return null;
  const done = new Set(searches.map((search) => search.query.toLowerCase()));
  const failed = searches.some(({ error }) => error !== null);
  const attempts = failed ? [query] : [query, cutText(question, MAX_QUERY), tellingWords(query)];
  if (searches.length >= MAX_SEARCHES) return null;
  return attempts.find((attempt) => attempt !== '' && !done.has(attempt.toLowerCase())) ?? null;
}

/** A long story is often too unlike the page about it; its telling words alone may be nearer. */
function tellingWords(query: string): string {
  const words = query.match(/[\p{L}\p{N}][^\s?!,;"()]*/gu) ?? [];
  return words
    .map((word) => word.replace(/[.:]+$/, ''))
    .filter((word) => !STOP_WORDS.has(word.toLowerCase()))
    .join(' ');
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
