// The baseline of an offline answer: the unbundled SDK with one scripted turn that searches.
import { Agent, Runner, tool } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';

const search = tool({
  name: 'search_docs',
  description: 'Search the documents.',
  strict: true,
  parameters: {
    type: 'object',
    properties: { query: { type: 'string' } },
    required: ['query'],
    additionalProperties: false,
  },
  execute: async () => 'ROS 2 is a set of libraries and tools for robots.',
});
const model = new ScriptedModel([
  [functionCall('search_docs', { query: 'What is ROS 2?' }, { callId: 'call_1' })],
  [assistantMessage('ROS 2 is a set of libraries and tools for robots.')],
]);
const runner = new Runner({ tracingDisabled: true });
const stream = await runner.run(new Agent({ name: 'bare', model, tools: [search] }), 'What is ROS 2?', {
  stream: true,
});
for await (const event of stream) {
  const isWord = event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta';
  if (isWord) process.stdout.write(event.data.delta);
}
await stream.completed;
