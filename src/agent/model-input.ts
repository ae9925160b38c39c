import type { AgentInputItem, Model, ModelRequest } from '@openai/agents-core';
import type { TokensUsed } from '../domain/agent-response.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import { formatCoverage, REWRITE_INSTRUCTIONS } from '../domain/prompts.ts';
import type { ConversationStore } from '../ports/chunk-store.ts';
import { responseText, responseTokens } from './model-response.ts';

/** Subjects that the instructions list. */
const MAX_SUBJECTS = 8;
const MAX_QUERY_CHARACTERS = 500;

export interface AgentBriefing {
  /** What the collection is about, a line for the instructions; empty if it has no documents. */
  coverage: string;
  /** The modules of the collection. */
  modules: string[];
}

/** Reads what the collection is about, so that the model knows when to search: its description, modules or titles. */
export async function createAgentBriefing(
  store: Pick<ConversationStore, 'info' | 'documents'>,
): Promise<AgentBriefing> {
  const info = await store.info();
  const modules = info.modules.map(({ name }) => name);
  if (info.description) return { coverage: formatCoverage([info.description]), modules };
  const inModules = info.modules.reduce((sum, { chunks }) => sum + chunks, 0);
  const coversByModules = modules.length > 1 && inModules >= 0.9 * info.chunks;
  const listed = coversByModules ? modules.slice(0, MAX_SUBJECTS) : await readTitles(store);
  if (listed.length === 0) return { coverage: '', modules };
  const others = (coversByModules ? modules.length : info.documents) - listed.length;
  const more = others > 0 ? [`and ${others} more`] : [];
  return { coverage: formatCoverage([...listed, ...more]), modules };
}

async function readTitles(store: Pick<ConversationStore, 'documents'>): Promise<string[]> {
  const titles = new Set<string>();
  for await (const { title } of store.documents()) if (titles.add(title).size === MAX_SUBJECTS) break;
  return [...titles];
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

/** Has the model write a query for a question. Returns the question if there is no reply. */
export async function rewriteAsQuery(
  model: Model,
  history: readonly AgentInputItem[],
  question: string,
  { coverage, signal }: { coverage: string; signal: AbortSignal },
): Promise<{ query: string; tokens: TokensUsed }> {
  const request: ModelRequest = {
    systemInstructions: `${REWRITE_INSTRUCTIONS}\n\n${coverage}`.trimEnd(),
    input: [...history, { role: 'user', content: question }],
    modelSettings: { temperature: 0 },
    tools: [],
    handoffs: [],
    outputType: 'text',
    tracing: false,
    signal,
  };
  const response = await model.getResponse(request);
  const query = responseText(response.output)
    .trim()
    .replace(/^["']|["']$/g, '')
    .slice(0, MAX_QUERY_CHARACTERS);
  return { query: query || question, tokens: responseTokens(request, response) };
}
