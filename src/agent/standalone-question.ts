import type { AgentInputItem, Model } from '@openai/agents-core';
import { REWRITE_INSTRUCTIONS } from '../domain/rewrite-instructions.ts';

const MAX_QUERY_CHARACTERS = 500;

/** Has the model write a follow-up as a query of its own. Without history, or if it says nothing, the question stands. */
export async function standaloneQuestion(
  model: Model,
  history: readonly AgentInputItem[],
  question: string,
  signal?: AbortSignal,
): Promise<{ query: string; inputTokens: number; outputTokens: number }> {
  if (history.length === 0) return { query: question, inputTokens: 0, outputTokens: 0 };
  const { output, usage } = await model.getResponse({
    systemInstructions: REWRITE_INSTRUCTIONS,
    input: [...history, { role: 'user', content: question }],
    modelSettings: { temperature: 0 },
    tools: [],
    handoffs: [],
    outputType: 'text',
    tracing: false,
    ...(signal && { signal }),
  });
  const text = output
    .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
  const query = text
    .trim()
    .replace(/^["']|["']$/g, '')
    .slice(0, MAX_QUERY_CHARACTERS);
  return { query: query || question, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
}
