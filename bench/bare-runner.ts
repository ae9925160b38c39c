import { Agent, Runner, tool } from '@openai/agents-core';
import { OpenAIChatCompletionsModel } from '@openai/agents-openai';
import { OpenAI } from 'openai';
import { searchArgumentsJsonSchema } from '../src/agent/tools/search-arguments.ts';
import { searchDescriptions } from '../src/agent/tools/search-tool.ts';
import { agentConfigSchema } from '../src/domain/agent-config.ts';
import { toToolResponse } from '../src/domain/retrieval-tool-response.ts';
import type { ModelServer } from './model-server.ts';
import { createInstantRetriever } from './passages.ts';

/** The SDK's loop and nothing around it, with the same prompt, tool and passages: one turn. */
export type BareTurn = (question: string, onFirstWord?: () => void) => Promise<void>;

export async function createBareRunner(server: ModelServer): Promise<BareTurn> {
  const config = agentConfigSchema.parse({});
  const retriever = await createInstantRetriever();
  const client = new OpenAI({ apiKey: 'none', baseURL: server.baseUrl, maxRetries: 0 });
  const runner = new Runner({ tracingDisabled: true });
  const agent = new Agent({
    name: 'bare',
    instructions: config.systemPrompt,
    model: new OpenAIChatCompletionsModel(client, 'bench'),
    modelSettings: { temperature: config.temperature, maxTokens: config.maxTokens },
    tools: [
      tool({
        name: config.toolName,
        description: searchDescriptions[config.toolName],
        strict: true,
        parameters: searchArgumentsJsonSchema as never,
        async execute(args) {
          const { query } = args as { query: string };
          const { context } = await retriever.retrieve({ text: query, topK: config.topK, filter: {} });
          return JSON.stringify(toToolResponse(context, config.toolName, (_, index) => String(index + 1)));
        },
      }),
    ],
  });
  return async (question, onFirstWord = () => {}) => {
    const stream = await runner.run(agent, question, { stream: true });
    let words = 0;
    for await (const event of stream) {
      const isWord = event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta';
      if (isWord && words++ === 0) onFirstWord();
    }
    await stream.completed;
    if (!stream.finalOutput) throw new Error('The bare Runner gave no answer.');
  };
}
