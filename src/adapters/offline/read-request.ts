import type { ModelRequest } from '@openai/agents-core';
import { ATTACHED_URL, splitContextPrompt } from '../../domain/prompts.ts';
import { type RetrievalToolResponse, readToolResponse } from '../../domain/retrieval-tool-response.ts';

/** A passage that an answer may be taken from. */
export interface Passage {
  ref: string;
  title: string;
  /** The headings above it, outermost first. */
  headings: string[];
  text: string;
  score: number;
  /** By the person, along with the question. */
  given?: boolean;
}

export interface Exchange {
  question: string;
  answer: string | null;
}

/** What the offline model takes from a request: the same that any other model gets to see. */
export interface ReadRequest {
  instructions: string;
  question: string;
  /** Earlier exchanges, oldest first. */
  history: Exchange[];
  /** The searches of this turn, in order. */
  searches: RetrievalToolResponse[];
  /** Passages that came with the question instead of through a tool. */
  context: Passage[] | null;
  /** The name of the search tool, if it may be called now. */
  searchTool: string | null;
  mustSearch: boolean;
}

type Item = Exclude<ModelRequest['input'], string>[number];

const SEARCH_TOOLS = ['search_docs', 'retrieve_context'];

export function readRequest(request: ModelRequest): ReadRequest {
  const items: Item[] =
    typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : request.input;
  const last = items.findLastIndex((item) => 'role' in item && item.role === 'user');
  const text = textOf(items[last]);
  const prompt = splitContextPrompt(text);
  const tool = request.tools.find((candidate) => SEARCH_TOOLS.includes(candidate.name));
  const choice = request.modelSettings.toolChoice;
  return {
    instructions: request.systemInstructions ?? '',
    question: prompt?.question ?? text,
    history: exchangesOf(items.slice(0, Math.max(0, last))),
    searches: items.slice(last + 1).flatMap(searchOf),
    context: prompt === null ? null : passagesIn(prompt.passages),
    searchTool: tool === undefined || choice === 'none' ? null : tool.name,
    mustSearch: choice === 'required' || choice === tool?.name,
  };
}

function exchangesOf(items: readonly Item[]): Exchange[] {
  const exchanges: Exchange[] = [];
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

function searchOf(item: Item): RetrievalToolResponse | [] {
  if (item.type !== 'function_call_result') return [];
  const output = item.output;
  const text = typeof output === 'string' ? output : 'text' in output ? output.text : '';
  return readToolResponse(text) ?? [];
}

const SOURCE =
  /<source ref="([^"]*)" title="([^"]*)" url="([^"]*)" score="([^"]*)">\n([\s\S]*?)\n<\/source>/g;

function passagesIn(blocks: string): Passage[] {
  return Array.from(blocks.matchAll(SOURCE), ([, ref = '', title = '', url = '', score = '', text = '']) => ({
    ref,
    ...placeOf(unescaped(title)),
    text: text.replace(/&lt;(?=\/?source\b)/gi, '<'),
    score: Number(score),
    given: url === ATTACHED_URL,
  }));
}

/** Title and headings, as a prompt joins them. */
function placeOf(path: string): Pick<Passage, 'title' | 'headings'> {
  const [title = '', ...headings] = path.split(' > ');
  return { title, headings };
}

function unescaped(text: string): string {
  return text
    .replace(/&quot;/g, '"')
    .replace(/&gt;/g, '>')
    .replace(/&lt;/g, '<')
    .replace(/&amp;/g, '&');
}
