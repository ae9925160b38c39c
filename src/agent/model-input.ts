import type { AgentInputItem, Model, ModelRequest } from '@openai/agents-core';
import type { TokensUsed } from '../domain/agent-response.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import { formatCoverage, REWRITE_INSTRUCTIONS } from '../domain/prompts.ts';
import type { ChunkStore, ConversationStore } from '../ports/chunk-store.ts';
import { responseText, responseTokens } from './model-response.ts';

/** Subjects that the instructions list. */
const MAX_SUBJECTS = 8;
/** Documents whose titles are read to find subjects. */
const MAX_TITLES = 40;
const MAX_QUERY_CHARACTERS = 500;

export interface AgentBriefing {
  /** The system prompt, and what the collection covers. */
  instructions: string;
  /** The modules of the collection. */
  modules: string[];
}

/** Adds to the system prompt what the collection covers, so that the model knows when to search. */
export async function createAgentBriefing(
  systemPrompt: string,
  store: Pick<ConversationStore, 'info' | 'documents'>,
): Promise<AgentBriefing> {
  const info = await store.info();
  const modules = info.modules.map(({ name }) => name);
  const inModules = info.modules.reduce((sum, { chunks }) => sum + chunks, 0);
  const coversByModules = modules.length > 1 && inModules >= 0.9 * info.chunks;
  const subjects = coversByModules ? modules : await readTitles(store);
  if (subjects.length === 0) return { instructions: systemPrompt, modules };
  const listed = subjects.slice(0, MAX_SUBJECTS);
  const more = subjects.length > listed.length ? [`${subjects.length - listed.length} more`] : [];
  return { instructions: `${systemPrompt}\n\n${formatCoverage([...listed, ...more])}`, modules };
}

async function readTitles(store: Pick<ChunkStore, 'documents'>): Promise<string[]> {
  const titles: string[] = [];
  for await (const { title } of store.documents()) if (titles.push(title) === MAX_TITLES) break;
  return [...new Set(titles)];
}

/** Past messages as SDK input. The system message is left out, because it is passed as instructions. */
export function toInputItems(messages: readonly ConversationMessage[]): AgentInputItem[] {
  return messages.flatMap((message): AgentInputItem[] => {
    if (message.role === 'system') return [];
    if (message.role === 'user') return [{ role: 'user', content: message.content }];
    if (message.role === 'tool') {
      const { toolCallId, name, content } = message;
      const output = { type: 'text' as const, text: content };
      return [{ type: 'function_call_result', callId: toolCallId, name, status: 'completed', output }];
    }
    const { content, toolCalls } = message;
    const calls = toolCalls.map(
      ({ id, name, arguments: args }): AgentInputItem => ({
        ...{ type: 'function_call', callId: id, name, arguments: args, status: 'completed' },
      }),
    );
    if (!content) return calls;
    const text = [{ type: 'output_text' as const, text: content }];
    return [{ role: 'assistant', status: 'completed', content: text }, ...calls];
  });
}

/** Has the model rewrite a follow-up as a query without context. Returns the question if there is no history or reply. */
export async function rewriteAsQuery(
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
