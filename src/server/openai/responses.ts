import type { ToolCall } from '../../domain/conversation-message.ts';
import { type RequestFault, toRequestFault, toWireError } from '../http/request-fault.ts';
import { begunWithin, streamResponse } from '../http/stream-response.ts';
import {
  type Answer,
  type AnswerEvent,
  type AnswerHead,
  type AnswerStream,
  BEGIN_MS,
  cutReason,
  dataLine,
  ownFields,
  restOf,
  type UrlCitation,
  urlCitations,
} from './answer.ts';
import type { ModelCall } from './model-call.ts';

type Json = Record<string, unknown>;

/** An answer as the object that `POST /v1/responses` gives back. */
export function responseObject(head: AnswerHead, call: ModelCall, answer: Answer): Json {
  const { prompt, completion, total } = answer.usage;
  const cut = cutReason(answer);
  return {
    ...openResponse(head, call),
    status: cut === null ? 'completed' : 'incomplete',
    incomplete_details: cut === null ? null : { reason: cut === 'length' ? 'max_output_tokens' : cut },
    completed_at: head.createdAt,
    output: outputItems(head, answer),
    usage: {
      input_tokens: prompt,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completion,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: total,
    },
    ...ownFields(answer),
  };
}

/** An answer as server-sent events of the Responses API. Throws what fails before anything was sent. */
export async function responseStream(
  call: ModelCall,
  { head, events, onCancel }: AnswerStream,
): Promise<Response> {
  return streamResponse(await begunWithin(responsePieces(head, call, events), BEGIN_MS), {
    contentType: 'text/event-stream',
    onFailure: (error) => {
      const { code, message, param } = toWireError(toRequestFault(error)).error;
      return `event: error\n${dataLine({ type: 'error', code, message, param, sequence_number: 0 })}`;
    },
    onCancel,
  });
}

/** A failure on the way is the last event, `response.failed`. */
async function* responsePieces(
  head: AnswerHead,
  call: ModelCall,
  events: AsyncIterable<AnswerEvent>,
): AsyncGenerator<string> {
  let sequence = 0;
  const event = (type: string, fields: Json) =>
    `event: ${type}\n${dataLine({ type, sequence_number: sequence++, ...fields })}`;
  const message = { item_id: `msg_${head.id}`, output_index: 0, content_index: 0 };
  let sent = '';
  let begun = false;
  let inMessage = false;

  function* begin(): Generator<string> {
    if (begun) return;
    begun = true;
    yield event('response.created', { response: openResponse(head, call) });
    yield event('response.in_progress', { response: openResponse(head, call) });
  }

  function* delta(text: string): Generator<string> {
    if (!inMessage) {
      inMessage = true;
      const item = { ...messageItem(head, '', []), status: 'in_progress', content: [] };
      yield event('response.output_item.added', { output_index: 0, item });
      yield event('response.content_part.added', { ...message, part: textPart('', []) });
    }
    sent += text;
    if (text !== '') yield event('response.output_text.delta', { ...message, delta: text, logprobs: [] });
  }

  function* endMessage(answer: Answer): Generator<string> {
    const { text } = answer;
    const citations = urlCitations(answer);
    for (const [index, citation] of citations.entries()) {
      yield event('response.output_text.annotation.added', {
        ...message,
        annotation_index: index,
        annotation: annotation(citation),
      });
    }
    yield event('response.output_text.done', { ...message, text, logprobs: [] });
    yield event('response.content_part.done', { ...message, part: textPart(text, citations) });
    yield event('response.output_item.done', { output_index: 0, item: messageItem(head, text, citations) });
  }

  function* calls(answer: Answer): Generator<string> {
    for (const [index, made] of answer.calls.entries()) {
      const item = callItem(head, made, index);
      const place = { item_id: item.id, output_index: index + (inMessage ? 1 : 0) };
      const { output_index } = place;
      yield event('response.output_item.added', {
        output_index,
        item: { ...item, arguments: '', status: 'in_progress' },
      });
      yield event('response.function_call_arguments.delta', { ...place, delta: made.arguments });
      yield event('response.function_call_arguments.done', {
        ...place,
        name: made.name,
        arguments: made.arguments,
      });
      yield event('response.output_item.done', { output_index, item });
    }
  }

  try {
    for await (const made of events) {
      yield* begin();
      if (made.type === 'delta') {
        yield* delta(made.text);
        continue;
      }
      const { answer } = made;
      if (answer.text !== '' || answer.calls.length === 0 || inMessage) {
        yield* delta(restOf(answer.text, sent));
        yield* endMessage(answer);
      }
      yield* calls(answer);
      const response = responseObject(head, call, answer);
      yield event(`response.${response.status}`, { response });
    }
  } catch (error) {
    // Before anything was sent, the fault is better told by the HTTP status.
    if (!begun) throw error;
    yield event('response.failed', { response: failedResponse(head, call, toRequestFault(error)) });
  }
}

/** The object before there is an answer, with what it gives back of the request. */
function openResponse({ id, createdAt, model }: AnswerHead, call: ModelCall): Json {
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
    user: call.body.user ?? null,
    metadata: call.body.metadata ?? {},
  };
}

/** The object of an answer that came to nothing. */
function failedResponse(head: AnswerHead, call: ModelCall, { message, status, details }: RequestFault): Json {
  const code = status === 429 ? 'rate_limit_exceeded' : (details.code ?? 'server_error');
  return { ...openResponse(head, call), status: 'failed', error: { code, message } };
}

function messageItem(head: AnswerHead, text: string, citations: readonly UrlCitation[]): Json {
  return {
    type: 'message',
    id: `msg_${head.id}`,
    status: 'completed',
    role: 'assistant',
    content: [textPart(text, citations)],
  };
}

function callItem(head: AnswerHead, { id, name, arguments: args }: ToolCall, index: number): Json {
  return {
    type: 'function_call',
    id: `fc_${head.id}_${index}`,
    call_id: id,
    name,
    arguments: args,
    status: 'completed',
  };
}

function textPart(text: string, citations: readonly UrlCitation[]): Json {
  return { type: 'output_text', text, annotations: citations.map(annotation), logprobs: [] };
}

function annotation({ start, end, url, title }: UrlCitation): Json {
  return { type: 'url_citation', start_index: start, end_index: end, url, title };
}

function outputItems(head: AnswerHead, answer: Answer): Json[] {
  const { text, calls } = answer;
  const message = text === '' && calls.length > 0 ? [] : [messageItem(head, text, urlCitations(answer))];
  return [...message, ...calls.map((call, index) => callItem(head, call, index))];
}

function wireChoice(choice: string | undefined): unknown {
  if (choice === undefined || ['auto', 'none', 'required'].includes(choice)) return choice ?? 'auto';
  return { type: 'function', name: choice };
}
