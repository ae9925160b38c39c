import * as z from 'zod';
import { readFields } from '../http/read-request.ts';
import {
  checkToolChoice,
  functionFields,
  type ModelCall,
  readMessages,
  refuse,
  sharedFields,
  toOfferedTool,
} from './model-call.ts';
import type { ReadOptions } from './wire-message.ts';

const textPart = z.union([
  z
    .object({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() })
    .transform(({ text }) => text),
  z.object({ type: z.literal('refusal'), refusal: z.string() }).transform(({ refusal }) => refusal),
]);
const text = z.union([z.string(), z.array(textPart).transform((parts) => parts.join(''))], {
  error: 'only text is accepted',
});

const messageItem = z.object({
  type: z.literal('message').optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: text,
});
const callItem = z.object({
  type: z.literal('function_call'),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
});
const outputItem = z.object({
  type: z.literal('function_call_output'),
  call_id: z.string().min(1),
  output: text,
});
// What a model thought is of no use to another one.
const reasoningItem = z.object({ type: z.literal('reasoning') });
const itemSchema = z.union([messageItem, callItem, outputItem, reasoningItem], {
  error: 'must be a message, a function_call or a function_call_output of text',
});
type Item = z.infer<typeof itemSchema>;

const responseRequestSchema = z.looseObject({
  ...sharedFields,
  input: z.union([z.string().min(1), z.array(itemSchema).min(1)], {
    error: (issue) => (issue.input === undefined ? 'is missing' : 'must be a text or a list of text items'),
  }),
  instructions: z.string().nullish(),
  tools: z
    .array(z.object({ type: z.literal('function', 'only functions are supported'), ...functionFields }))
    .max(128)
    .nullish(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'required']),
      z.object({ type: z.literal('function'), name: z.string() }).transform(({ name }) => name),
    ])
    .nullish(),
  max_output_tokens: z.int().min(1).nullish(),
});

/** Reads a request of `POST /v1/responses`. Throws a RequestFault. */
export function readResponseRequest(body: unknown, options: ReadOptions): ModelCall {
  const request = readFields(responseRequestSchema, body);
  refuse(request, {
    previous_response_id: 'responses are not kept, send the whole conversation as input.',
    conversation: 'conversations are not kept, send the whole conversation as input.',
    background: 'the answer comes with the response.',
    prompt: 'there are no stored prompts.',
  });
  const tools = (request.tools ?? []).map(toOfferedTool);
  const toolChoice = request.tool_choice ?? undefined;
  checkToolChoice(toolChoice, tools);
  const rules = request.instructions ? [{ role: 'system', content: request.instructions }] : [];
  const said =
    typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : toChat(request.input);
  return {
    model: request.model,
    stream: request.stream ?? false,
    includeUsage: true,
    ...readMessages([...rules, ...said], options, 'input'),
    tools,
    toolChoice,
    temperature: request.temperature ?? undefined,
    maxTokens: request.max_output_tokens ?? undefined,
    body: request,
  };
}

/** The items as messages of the other API, whose reader then checks that calls and results belong together. */
function toChat(items: readonly Item[]): unknown[] {
  const messages: Array<{ role: string; tool_calls?: unknown[] } & Record<string, unknown>> = [];
  for (const item of items) {
    if ('role' in item) messages.push({ role: item.role, content: item.content });
    else if (item.type === 'function_call_output')
      messages.push({ role: 'tool', tool_call_id: item.call_id, content: item.output });
    else if (item.type === 'function_call') {
      const { call_id: id, name, arguments: args } = item;
      const call = { id, type: 'function', function: { name, arguments: args } };
      const last = messages.at(-1);
      // Calls of one step are one message.
      if (last?.role === 'assistant') last.tool_calls = [...(last.tool_calls ?? []), call];
      else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    }
  }
  return messages;
}
