import { Agent, OpenAIChatCompletionsModel, Runner, tool } from '@openai/agents';
import { OpenAI } from 'openai';
import { searchArguments, searchDescriptions } from '../../src/agent/document-tools.ts';
import { toToolSchema } from '../../src/agent/tool-arguments.ts';
import { agentConfigSchema } from '../../src/domain/agent-config.ts';
import { showContext } from '../../src/domain/retrieval-context.ts';
import { toToolResponse } from '../../src/domain/retrieval-tool-response.ts';
import { cutText } from '../../src/text/visible-text.ts';
import type { ModelServer } from './model-server.ts';
import { createInstantRetriever } from './sample-book.ts';

/** One turn of the SDK's own loop, with the same prompt, tool and passages as ours. */
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
        strict: false,
        parameters: toToolSchema(searchArguments([], config.topK).offered),
        async execute(args) {
          const { query } = args as { query: string };
          const { context } = await retriever.retrieve({ text: query, topK: config.topK, filter: {} });
          const shown = showContext(context, Number.POSITIVE_INFINITY, {
            textOf: (chunk) => cutText(chunk.text, 500),
          });
          return JSON.stringify(toToolResponse(shown, (_, index) => String(index + 1)));
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
    if (!stream.finalOutput) throw new Error('The bare Runner returned no answer.');
  };
}
