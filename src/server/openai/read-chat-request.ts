import * as z from 'zod';
import { readFields } from '../http/read-request.ts';
import { RequestFault } from '../http/request-fault.ts';
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

const chatRequestSchema = z.looseObject({
  ...sharedFields,
  messages: z.array(z.unknown()).min(1, 'there must be at least one message'),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z
    .array(z.object({ type: z.literal('function'), function: z.object(functionFields) }))
    .max(128)
    .nullish(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'required']),
      z
        .object({ type: z.literal('function'), function: z.object({ name: z.string() }) })
        .transform((choice) => choice.function.name),
    ])
    .nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  n: z.literal(1, 'one answer at a time').nullish(),
});

/** Reads a request of `POST /v1/chat/completions`. Throws a RequestFault. */
export function readChatRequest(body: unknown, options: ReadOptions): ModelCall {
  const request = readFields(chatRequestSchema, body);
  refuse(request, { audio: 'answers are text.', functions: 'offer them as tools.' });
  if (request.stream_options?.include_usage && request.stream !== true) {
    throw new RequestFault(400, 'stream_options is only allowed when stream is true.', {
      code: 'invalid_value',
      param: 'stream_options',
    });
  }
  const tools = (request.tools ?? []).map((tool) => toOfferedTool(tool.function));
  const toolChoice = request.tool_choice ?? undefined;
  checkToolChoice(toolChoice, tools);
  return {
    model: request.model,
    stream: request.stream ?? false,
    includeUsage: request.stream_options?.include_usage ?? false,
    ...readMessages(request.messages, options, 'messages'),
    tools,
    toolChoice,
    temperature: request.temperature ?? undefined,
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    body: request,
  };
}
