import type { ModelRequest } from '@openai/agents';
import { ATTACHED_TEXT_URL, parseContextPrompt } from '../../domain/prompts.ts';
import { parseToolResponse, type RetrievalToolResponse } from '../../domain/retrieval-tool-response.ts';

/** A passage that an answer may quote. */
export interface OfflinePassage {
  ref: string;
  title: string;
  /** Outermost first. */
  headings: string[];
  text: string;
  score: number;
  /** The user attached it to the question. */
  isAttached?: boolean;
}

export interface PastExchange {
  question: string;
  answer: string | null;
}

/** The parts of a model request that the offline model uses. */
export interface OfflineRequest {
  instructions: string;
  question: string;
  /** Oldest first. */
  history: PastExchange[];
  /** The searches of this turn, in order. */
  searches: RetrievalToolResponse[];
  /** Passages in the prompt itself instead of a tool result. */
  context: OfflinePassage[] | null;
  /** For each result that was read around, the passages of its document in order. */
  around: OfflinePassage[][];
  /** The name of the search tool, if it may be called now. */
  searchTool: string | null;
  /** Whether the passages around a search result can be read now. */
  canReadSource: boolean;
  mustSearch: boolean;
}

type Item = Exclude<ModelRequest['input'], string>[number];

const SEARCH_TOOLS = ['search_docs', 'retrieve_context'];
export const READ_TOOL = 'read_source';

export function parseModelRequest(request: ModelRequest): OfflineRequest {
  const items: Item[] =
    typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : request.input;
  const last = items.findLastIndex((item) => 'role' in item && item.role === 'user');
  const text = textOf(items[last]);
  const prompt = parseContextPrompt(text);
  const tool = request.tools.find((candidate) => SEARCH_TOOLS.includes(candidate.name));
  const choice = request.modelSettings.toolChoice;
  const results = parseToolResults(items.slice(last + 1));
  return {
    instructions: request.systemInstructions ?? '',
    question: prompt?.question ?? text,
    history: toExchanges(items.slice(0, Math.max(0, last))),
    searches: results.filter(({ tool }) => tool !== READ_TOOL).map(({ response }) => response),
    around: results.filter(({ tool }) => tool === READ_TOOL).map(({ response }) => response.results),
    context: prompt === null ? null : parsePassages(prompt.passages),
    searchTool: tool === undefined || choice === 'none' ? null : tool.name,
    canReadSource: request.tools.some(({ name }) => name === READ_TOOL) && choice !== 'none',
    mustSearch: choice === 'required' || choice === tool?.name,
  };
}

function toExchanges(items: readonly Item[]): PastExchange[] {
  const exchanges: PastExchange[] = [];
  for (const item of items) {
    if (!('role' in item)) continue;
    const last = exchanges.at(-1);
    if (item.role === 'user') exchanges.push({ question: textOf(item), answer: null });
    else if (item.role === 'assistant' && last !== undefined) last.answer = textOf(item);
  }
  return exchanges;
}

function textOf(item: Item | undefined): string {
  if (item === undefined || !('content' in item)) return '';
  if (typeof item.content === 'string') return item.content;
  return (item.content ?? []).map((part) => ('text' in part ? part.text : '')).join('');
}

/** The tool results with the names of their tools, which services only send with the calls. */
function parseToolResults(items: readonly Item[]): { tool: string; response: RetrievalToolResponse }[] {
  const names = new Map(
    items.flatMap((item) => (item.type === 'function_call' ? [[item.callId, item.name]] : [])),
  );
  return items.flatMap((item) => {
    if (item.type !== 'function_call_result') return [];
    const { callId, output } = item;
    const text = typeof output === 'string' ? output : 'text' in output ? output.text : '';
    const response = parseToolResponse(text);
    return response === null ? [] : [{ tool: names.get(callId) ?? '', response }];
  });
}

const SOURCE =
  /<source ref="([^"]*)" title="([^"]*)" url="([^"]*)" score="([^"]*)">\n([\s\S]*?)\n<\/source>/g;

function parsePassages(blocks: string): OfflinePassage[] {
  return Array.from(blocks.matchAll(SOURCE), ([, ref = '', path = '', url = '', score = '', text = '']) => {
    const [title = '', ...headings] = unescapeXml(path).split(' > ');
    return {
      ref,
      title,
      headings,
      text: text.replace(/&lt;(?=\/?source\b)/gi, '<'),
      score: Number(score),
      isAttached: url === ATTACHED_TEXT_URL,
    };
  });
}

function unescapeXml(text: string): string {
  return text
    .replace(/&quot;/g, '"')
    .replace(/&gt;/g, '>')
    .replace(/&lt;/g, '<')
    .replace(/&amp;/g, '&');
}
