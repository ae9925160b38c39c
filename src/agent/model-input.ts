import type { AgentInputItem, Model, ModelRequest } from '@openai/agents-core';
import type { TokensUsed } from '../domain/agent-response.ts';
import type { AssistantMessage, ConversationMessage, ToolMessage } from '../domain/conversation-message.ts';
import { coverageLine, REWRITE_INSTRUCTIONS } from '../domain/prompts.ts';
import type { ChunkStore, CollectionInfo } from '../ports/chunk-store.ts';
import { responseText, responseTokens } from './model-response.ts';

const MAX_SUBJECTS = 8;
/** Enough titles to say what a collection is about. */
const TITLES_READ = 40;
const MAX_QUERY_CHARACTERS = 500;

/** What a model is told before any conversation. */
export interface Briefing {
  instructions: string;
  /** The modules of the collection, to choose from. */
  modules: string[];
}

/** The system prompt with what the collection covers, so that a model knows when a search is worth it. */
export async function briefingFor(
  systemPrompt: string,
  store: Pick<ChunkStore, 'info' | 'documents'>,
): Promise<Briefing> {
  const info = await store.info();
  const modules = info.modules.map(({ name }) => name);
  const subjects = await subjectsOf(info, store);
  if (subjects.length === 0) return { instructions: systemPrompt, modules };
  const shown = subjects.slice(0, MAX_SUBJECTS);
  const more = subjects.length > shown.length ? [`${subjects.length - shown.length} more`] : [];
  return { instructions: `${systemPrompt}\n\n${coverageLine([...shown, ...more])}`, modules };
}

/** What a collection is about: its modules, or else the titles of some documents. */
async function subjectsOf(info: CollectionInfo, store: Pick<ChunkStore, 'documents'>): Promise<string[]> {
  if (hasTellingModules(info)) return info.modules.map(({ name }) => name);
  const titles: string[] = [];
  for await (const { title } of store.documents()) if (titles.push(title) === TITLES_READ) break;
  return [...new Set(titles)];
}

/** Whether the modules of a collection say what it is about: there are several, and nearly all of it is in them. */
function hasTellingModules({ modules, chunks }: CollectionInfo): boolean {
  return modules.length > 1 && modules.reduce((sum, module) => sum + module.chunks, 0) >= 0.9 * chunks;
}

/** Past messages as SDK input. The system message is left out, because it is passed as instructions. */
export function toInputItems(messages: readonly ConversationMessage[]): AgentInputItem[] {
  return messages.flatMap(itemsOf);
}

function itemsOf(message: ConversationMessage): AgentInputItem[] {
  if (message.role === 'system') return [];
  if (message.role === 'user') return [{ role: 'user', content: message.content }];
  return message.role === 'tool' ? [resultItem(message)] : assistantItems(message);
}

function resultItem({ toolCallId, name, content }: ToolMessage): AgentInputItem {
  const output = { type: 'text' as const, text: content };
  return { type: 'function_call_result', callId: toolCallId, name, status: 'completed', output };
}

function assistantItems({ content, toolCalls }: AssistantMessage): AgentInputItem[] {
  const calls = toolCalls.map(
    (call): AgentInputItem => ({
      type: 'function_call',
      callId: call.id,
      name: call.name,
      arguments: call.arguments,
      status: 'completed',
    }),
  );
  if (!content) return calls;
  return [
    { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: content }] },
    ...calls,
  ];
}

/** Has the model write a follow-up as a query of its own. Without history, or if it says nothing, the question stands. */
export async function standaloneQuestion(
  model: Model,
  history: readonly AgentInputItem[],
  question: string,
  signal?: AbortSignal,
): Promise<{ query: string; tokens: TokensUsed }> {
  if (history.length === 0) return { query: question, tokens: { prompt: 0, completion: 0, total: 0 } };
  const request: ModelRequest = {
    systemInstructions: REWRITE_INSTRUCTIONS,
    input: [...history, { role: 'user', content: question }],
    modelSettings: { temperature: 0 },
    tools: [],
    handoffs: [],
    outputType: 'text',
    tracing: false,
    ...(signal && { signal }),
  };
  const response = await model.getResponse(request);
  const query = responseText(response.output)
    .trim()
    .replace(/^["']|["']$/g, '')
    .slice(0, MAX_QUERY_CHARACTERS);
  return { query: query || question, tokens: responseTokens(request, response) };
}
