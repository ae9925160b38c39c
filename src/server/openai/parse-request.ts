import * as z from 'zod';
import { policySchema, type RetrievalPolicy } from '../../domain/agent-config.ts';
import type { ConversationMessage } from '../../domain/conversation-message.ts';
import { type Filter, filterSchema } from '../../domain/query.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { HttpError } from '../http/http-error.ts';
import { parseFields } from '../http/parse-body.ts';
import { type ChatMessage, chatMessageSchema, toConversation } from './chat-messages.ts';

/** A question to the agent, from a request of either API. */
export interface AgentRequest {
  model: string;
  stream: boolean;
  question: string;
  /** Earlier user and assistant messages, oldest first. */
  history: ConversationMessage[];
  policy: RetrievalPolicy | undefined;
  filter: Filter | undefined;
  /** Whether a stream ends with a chunk that holds the token usage. */
  includeUsage: boolean;
}

const sharedFields = {
  model: z.string().min(1).max(256),
  stream: z.boolean().nullish(),
  citeloop: z
    .strictObject({ policy: policySchema.optional(), filter: filterSchema.optional() })
    .nullish()
    .transform((fields) => fields ?? {}),
};

const chatRequestSchema = z.looseObject({
  ...sharedFields,
  messages: z.array(chatMessageSchema).min(1, 'there must be at least one message'),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, 'only one answer is supported').nullish(),
});

const inputItemSchema = z.union(
  [
    chatMessageSchema,
    z
      .object({ type: z.enum(['function_call', 'function_call_output', 'reasoning']) })
      .transform((): ChatMessage => ({ role: 'tool' })),
  ],
  { error: 'must be a message of text' },
);
const responseRequestSchema = z.looseObject({
  ...sharedFields,
  input: z.union(
    [
      z
        .string()
        .min(1)
        .transform((content): ChatMessage[] => [{ role: 'user', content }]),
      z.array(inputItemSchema).min(1),
    ],
    { error: (issue) => (issue.input === undefined ? 'is missing' : 'must be text or a list of messages') },
  ),
});

const NO_TOOLS = 'the agent uses its own tools.';

/** Parses the body of `POST /v1/chat/completions`. Throws a HttpError. */
export function parseChatRequest(body: unknown, runtime: Runtime): AgentRequest {
  const request = parseFields(chatRequestSchema, body);
  refuseFields(request, { tools: NO_TOOLS, functions: NO_TOOLS, audio: 'answers are text.' });
  const includeUsage = request.stream_options?.include_usage ?? false;
  if (includeUsage && request.stream !== true) {
    throw new HttpError(400, 'invalid_value', 'stream_options is only allowed when stream is true.', {
      param: 'stream_options',
    });
  }
  return { ...toAgentRequest(request, request.messages, runtime), includeUsage };
}

/** Parses the body of `POST /v1/responses`. Throws a HttpError. */
export function parseResponseRequest(body: unknown, runtime: Runtime): AgentRequest {
  const request = parseFields(responseRequestSchema, body);
  refuseFields(request, {
    tools: NO_TOOLS,
    previous_response_id: 'responses are not stored. Send the whole conversation as input.',
    conversation: 'conversations are not stored. Send the whole conversation as input.',
    background: 'the answer is part of the response.',
    prompt: 'there are no stored prompts.',
  });
  return { ...toAgentRequest(request, request.input, runtime), includeUsage: false };
}

function toAgentRequest(
  { model, stream, citeloop: { policy, filter } }: z.infer<z.ZodObject<typeof sharedFields>>,
  messages: readonly ChatMessage[],
  runtime: Runtime,
): Omit<AgentRequest, 'includeUsage'> {
  const timestamp = runtime.now().toISOString();
  const conversation = toConversation(messages, (text) => ({
    id: runtime.newId(),
    timestamp,
    tokenCount: estimateTokens(text),
  }));
  const last = conversation.at(-1);
  if (last?.role !== 'user' || messages.at(-1)?.role !== 'user') {
    throw new HttpError(400, 'invalid_value', 'The last message must be a question from the user.');
  }
  const history = conversation.slice(0, -1);
  return { model, stream: stream ?? false, question: last.content, history, policy, filter };
}

/** Throws a HttpError for a field that would be misunderstood if it were ignored. */
function refuseFields(
  body: Readonly<Record<string, unknown>>,
  reasons: Readonly<Record<string, string>>,
): void {
  for (const [field, reason] of Object.entries(reasons)) {
    const value = body[field];
    const isUnset = value === undefined || value === null || value === false;
    if (isUnset || (Array.isArray(value) && value.length === 0)) continue;
    throw new HttpError(400, 'unsupported_parameter', `${field} is not supported: ${reason}`, {
      param: field,
    });
  }
}
