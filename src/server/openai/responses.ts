import { type HttpError, toErrorBody, toHttpError } from '../http/http-error.ts';
import { streamResponse, waitForFirst } from '../http/stream-response.ts';
import {
  type AgentAnswer,
  type AnswerEvent,
  type AnswerIdentity,
  type AnswerStream,
  findUrlCitations,
  formatDataLine,
  incompleteReason,
  type UrlCitation,
  unsentText,
} from './agent-answer.ts';

type Json = Record<string, unknown>;

/** The object that `POST /v1/responses` returns. */
export function toResponseObject(identity: AnswerIdentity, answer: AgentAnswer): Json {
  const { prompt, completion, total } = answer.usage;
  const reason = incompleteReason(answer);
  return {
    ...openResponse(identity),
    status: reason === null ? 'completed' : 'incomplete',
    incomplete_details: reason && { reason: reason === 'length' ? 'max_output_tokens' : reason },
    completed_at: identity.createdAt,
    output: [toMessageItem(identity, answer.text, findUrlCitations(answer))],
    usage: {
      input_tokens: prompt,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completion,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: total,
    },
    citeloop: answer.citeloop,
  };
}

/** Streams a response object as server-sent events. Throws an error that comes before anything was sent. */
export async function streamResponseObject({ identity, events, onCancel }: AnswerStream): Promise<Response> {
  return streamResponse(await waitForFirst(responseEvents(identity, events)), {
    contentType: 'text/event-stream',
    onFailure: (error) => {
      const { code, message, param } = toErrorBody(toHttpError(error)).error;
      return `event: error\n${formatDataLine({ type: 'error', code, message, param, sequence_number: 0 })}`;
    },
    onCancel,
  });
}

/** Ends with `response.completed`, `response.incomplete` or `response.failed`. */
async function* responseEvents(
  identity: AnswerIdentity,
  events: AsyncIterable<AnswerEvent>,
): AsyncGenerator<string> {
  let sequence = 0;
  const event = (type: string, fields: Json) =>
    `event: ${type}\n${formatDataLine({ type, sequence_number: sequence++, ...fields })}`;
  const place = { item_id: `msg_${identity.id}`, output_index: 0, content_index: 0 };
  let sent = '';
  let begun = false;

  function* begin(): Generator<string> {
    begun = true;
    yield event('response.created', { response: openResponse(identity) });
    yield event('response.in_progress', { response: openResponse(identity) });
    const item = { ...toMessageItem(identity, '', []), status: 'in_progress', content: [] };
    yield event('response.output_item.added', { output_index: 0, item });
    yield event('response.content_part.added', { ...place, part: toTextPart('', []) });
  }

  function* delta(text: string): Generator<string> {
    sent += text;
    if (text !== '') yield event('response.output_text.delta', { ...place, delta: text, logprobs: [] });
  }

  function* end(answer: AgentAnswer): Generator<string> {
    const { text } = answer;
    const citations = findUrlCitations(answer);
    for (const [index, citation] of citations.entries()) {
      yield event('response.output_text.annotation.added', {
        ...place,
        annotation_index: index,
        annotation: { type: 'url_citation', ...citation },
      });
    }
    yield event('response.output_text.done', { ...place, text, logprobs: [] });
    yield event('response.content_part.done', { ...place, part: toTextPart(text, citations) });
    const item = toMessageItem(identity, text, citations);
    yield event('response.output_item.done', { output_index: 0, item });
    const response = toResponseObject(identity, answer);
    yield event(`response.${response.status}`, { response });
  }

  try {
    for await (const made of events) {
      if (!begun) yield* begin();
      if (made.type === 'delta') yield* delta(made.text);
      else {
        yield* delta(unsentText(made.answer.text, sent));
        yield* end(made.answer);
      }
    }
  } catch (error) {
    // Nothing was sent yet: the caller reports the error by HTTP status.
    if (!begun) throw error;
    yield event('response.failed', { response: toFailedResponse(identity, toHttpError(error)) });
  }
}

/** The response object before there is an answer. */
function openResponse({ id, createdAt, model }: AnswerIdentity): Json {
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    metadata: {},
  };
}

function toFailedResponse(identity: AnswerIdentity, { message, status, code }: HttpError): Json {
  const error = { code: status === 429 ? 'rate_limit_exceeded' : code, message };
  return { ...openResponse(identity), status: 'failed', error };
}

function toMessageItem({ id }: AnswerIdentity, text: string, citations: readonly UrlCitation[]): Json {
  const content = [toTextPart(text, citations)];
  return { type: 'message', id: `msg_${id}`, status: 'completed', role: 'assistant', content };
}

function toTextPart(text: string, citations: readonly UrlCitation[]): Json {
  const annotations = citations.map((citation) => ({ type: 'url_citation', ...citation }));
  return { type: 'output_text', text, annotations, logprobs: [] };
}
