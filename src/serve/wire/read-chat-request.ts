import * as z from 'zod';
import { fromWire } from '../../domain/wire-message.ts';
import { type ModelCall, splitInstructions } from './model-call.ts';
import {
  checkToolChoice,
  functionFields,
  readFields,
  refuse,
  sharedFields,
  toOfferedTool,
} from './read-fields.ts';
import type { ReadRequestOptions } from './read-request-options.ts';
import { RequestFault, toRequestFault } from './request-fault.ts';

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
export function readChatRequest(body: unknown, options: ReadRequestOptions): ModelCall {
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
    ...splitInstructions(readMessages(request.messages, options)),
    tools,
    toolChoice,
    temperature: request.temperature ?? undefined,
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    body: request,
  };
}

function readMessages(messages: readonly unknown[], options: ReadRequestOptions) {
  try {
    return fromWire(messages, options);
  } catch (error) {
    const { status, message } = toRequestFault(error);
    throw new RequestFault(status, message, { code: 'invalid_value', param: 'messages' });
  }
}
