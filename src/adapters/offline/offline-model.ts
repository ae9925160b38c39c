import { type Model, type ModelRequest, type protocol, type StreamEvent, Usage } from '@openai/agents-core';
import { noInformationSentence } from '../../domain/abstention.ts';
import { FAILED_SEARCH_ADVICE, parseCoverage, REWRITE_INSTRUCTIONS } from '../../domain/prompts.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { cutText, oneLine } from '../../text/visible-text.ts';
import { answerFromPassages, choosePassages } from './answer-from-passages.ts';
import {
  type OfflinePassage,
  type OfflineRequest,
  parseModelRequest,
  READ_TOOL,
} from './parse-model-request.ts';
import { replyToSmallTalk } from './small-talk.ts';
import { formatTopic, toStandaloneQuery } from './standalone-query.ts';

/** Characters of a question that are searched for. */
const MAX_QUERY = 500;

interface ToolUse {
  tool: string;
  args: Record<string, string>;
}

type Step = { calls: ToolUse[] } | { say: string };

/**
 * A model that answers only with quotes: it decides whether to search, resolves follow-ups, reads around the best passage,
 * and quotes the section that answers, or shows the closest passages. It gets the same requests as any other model.
 */
export function createOfflineModel({ newId }: { newId: () => string }): Model {
  async function reply(request: ModelRequest) {
    request.signal?.throwIfAborted();
    const step = decideStep(parseModelRequest(request));
    const inputTokens =
      estimateTokens(JSON.stringify(request.input)) + estimateTokens(request.systemInstructions ?? '');
    const outputTokens = estimateTokens('say' in step ? step.say : JSON.stringify(step.calls));
    const usage = { requests: 1, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    return {
      text: 'say' in step ? step.say : '',
      output: toOutputItems(step, newId),
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

function toOutputItems(step: Step, newId: () => string): protocol.OutputModelItem[] {
  if ('calls' in step) {
    return step.calls.map(({ tool, args }) => ({
      type: 'function_call',
      callId: `call_${newId()}`,
      name: tool,
      arguments: JSON.stringify(args),
      status: 'completed',
    }));
  }
  const content: protocol.AssistantContent[] = [{ type: 'output_text', text: step.say }];
  return [{ type: 'message', role: 'assistant', status: 'completed', content }];
}

function decideStep(request: OfflineRequest): Step {
  const { question, history, searches, around, context, searchTool } = request;
  const earlier = history.map((exchange) => exchange.question);
  const query = cutText(toStandaloneQuery(question.trim(), earlier), MAX_QUERY);
  if (request.instructions.startsWith(REWRITE_INSTRUCTIONS)) return { say: query };
  if (!request.mustSearch || searches.length > 0) {
    const reply = replyToSmallTalk(question, history);
    if (reply !== null) return { say: reply };
  }
  if (searchTool !== null && context === null && searches.length === 0)
    return { calls: [{ tool: searchTool, args: { query } }] };

  const passages = context ?? searches.flatMap(({ results }) => results);
  const chosen = choosePassages(query, passages);
  if (chosen.length > 0 && request.canReadSource && around.length === 0)
    return { calls: chosen.map(({ ref }) => ({ tool: READ_TOOL, args: { ref } })) };
  const answer = answerFromPassages(query, chosen, { passages, around });
  return { say: answer ?? formatNoInformation(query, passages, request) };
}

/** The sentence of a tool response about words that no document contains. */
const ABSENT_WORDS = /No document contains .*?"(?:\.|\?)(?=\s|$)/;

function formatNoInformation(
  query: string,
  [nearest]: readonly OfflinePassage[],
  { instructions, searches, context }: OfflineRequest,
): string {
  const failure = searches.find(({ error }) => error !== null)?.message;
  // A failed search says nothing about the documents.
  if (failure != null)
    return `Unable to retrieve content. ${failure.replace(FAILED_SEARCH_ADVICE, '').trim()}`;
  const isSearched = searches.length > 0 || context !== null;
  const covered = parseCoverage(instructions);
  const absent = searches.map(({ message }) => ABSENT_WORDS.exec(message ?? '')?.[0] ?? '').join('');
  return [
    noInformationSentence(formatTopic(query)),
    isSearched ? absent : 'The documents were not searched.',
    nearest === undefined ? '' : `The closest passage is in "${oneLine(nearest.title, 80)}".`,
    covered === null ? '' : `The documents cover ${covered}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
