import type { ToolCall } from '../../domain/conversation-message.ts';
import type { Answer, AnswerHead, UrlCitation } from './answer.ts';
import type { ModelCall } from './model-call.ts';
import type { RequestFault } from './request-fault.ts';

type Json = Record<string, unknown>;

/** An answer as the object that `POST /v1/responses` gives back. */
export function responseObject(head: AnswerHead, call: ModelCall, answer: Answer): Json {
  const { prompt, completion, total } = answer.usage;
  return {
    ...openResponse(head, call),
    status: 'completed',
    completed_at: head.createdAt,
    output: outputItems(head, answer),
    usage: {
      input_tokens: prompt,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completion,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: total,
    },
    ...answer.extra,
  };
}

/** The object before there is an answer, with what it gives back of the request. */
export function openResponse({ id, createdAt, model }: AnswerHead, call: ModelCall): Json {
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: call.instructions === '' ? null : call.instructions,
    max_output_tokens: call.maxTokens ?? null,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: call.temperature ?? 1,
    text: { format: { type: 'text' } },
    tool_choice: wireChoice(call.toolChoice),
    tools: call.tools.map((tool) => ({ type: 'function', ...tool })),
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: call.body.metadata ?? {},
  };
}

/** The object of an answer that came to nothing. */
export function failedResponse(
  head: AnswerHead,
  call: ModelCall,
  { message, status, details }: RequestFault,
): Json {
  const code = status === 429 ? 'rate_limit_exceeded' : (details.code ?? 'server_error');
  return { ...openResponse(head, call), status: 'failed', error: { code, message } };
}

export function messageItem(head: AnswerHead, text: string, citations: readonly UrlCitation[]): Json {
  return {
    type: 'message',
    id: `msg_${head.id}`,
    status: 'completed',
    role: 'assistant',
    content: [textPart(text, citations)],
  };
}

export function callItem(head: AnswerHead, { id, name, arguments: args }: ToolCall, index: number): Json {
  return {
    type: 'function_call',
    id: `fc_${head.id}_${index}`,
    call_id: id,
    name,
    arguments: args,
    status: 'completed',
  };
}

export function textPart(text: string, citations: readonly UrlCitation[]): Json {
  return { type: 'output_text', text, annotations: citations.map(annotation), logprobs: [] };
}

export function annotation({ start, end, url, title }: UrlCitation): Json {
  return { type: 'url_citation', start_index: start, end_index: end, url, title };
}

function outputItems(head: AnswerHead, { text, citations, calls }: Answer): Json[] {
  const message = text === '' && calls.length > 0 ? [] : [messageItem(head, text, citations)];
  return [...message, ...calls.map((call, index) => callItem(head, call, index))];
}

function wireChoice(choice: string | undefined): unknown {
  if (choice === undefined || ['auto', 'none', 'required'].includes(choice)) return choice ?? 'auto';
  return { type: 'function', name: choice };
}
