import type { TokensUsed } from '../../domain/agent-response.ts';
import type { ToolCall } from '../../domain/conversation-message.ts';
import { toRequestFault, toWireError } from '../http/request-fault.ts';
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

/** An answer as the object that `POST /v1/chat/completions` gives back. */
export function chatCompletion(head: AnswerHead, answer: Answer): Record<string, unknown> {
  const { text, calls } = answer;
  return {
    ...commonFields(head, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          refusal: null,
          annotations: urlCitations(answer).map(annotation),
          ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
        },
        logprobs: null,
        finish_reason: finishReason(answer),
      },
    ],
    usage: chatUsage(answer.usage),
    ...ownFields(answer),
  };
}

/** An answer as server-sent events of the Chat Completions API. Throws what fails before anything was sent. */
export async function chatStream(
  call: Pick<ModelCall, 'includeUsage'>,
  { head, events, onCancel }: AnswerStream,
): Promise<Response> {
  return streamResponse(await begunWithin(chatPieces(head, call, events), BEGIN_MS), {
    contentType: 'text/event-stream',
    onFailure: (error) => dataLine(toWireError(toRequestFault(error))),
    onCancel,
  });
}

async function* chatPieces(
  head: AnswerHead,
  { includeUsage }: Pick<ModelCall, 'includeUsage'>,
  events: AsyncIterable<AnswerEvent>,
): AsyncGenerator<string> {
  const chunk = (delta: Record<string, unknown>, finish: string | null = null, extra = {}) =>
    dataLine({
      ...commonFields(head, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(includeUsage && { usage: null }),
      ...extra,
    });
  let sent = '';
  let begun = false;
  for await (const event of events) {
    if (!begun) yield chunk({ role: 'assistant', content: '', refusal: null });
    begun = true;
    if (event.type === 'delta') {
      sent += event.text;
      yield chunk({ content: event.text });
      continue;
    }
    const { answer } = event;
    const rest = restOf(answer.text, sent);
    if (rest !== '') yield chunk({ content: rest });
    for (const [index, call] of answer.calls.entries())
      yield chunk({ tool_calls: [{ index, ...toolCall(call) }] });
    const citations = urlCitations(answer, sent + rest);
    if (citations.length > 0) yield chunk({ annotations: citations.map(annotation) });
    yield chunk({}, finishReason(answer), ownFields(answer));
    if (includeUsage) {
      const usage = chatUsage(answer.usage);
      yield dataLine({ ...commonFields(head, 'chat.completion.chunk'), choices: [], usage });
    }
  }
  yield 'data: [DONE]\n\n';
}

function commonFields({ id, createdAt, model }: AnswerHead, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAt, model, system_fingerprint: null };
}

function finishReason(answer: Answer): string {
  return answer.calls.length > 0 ? 'tool_calls' : (cutReason(answer) ?? 'stop');
}

function toolCall({ id, name, arguments: args }: ToolCall) {
  return { id, type: 'function', function: { name, arguments: args } };
}

function annotation({ start, end, url, title }: UrlCitation) {
  return { type: 'url_citation', url_citation: { start_index: start, end_index: end, url, title } };
}

function chatUsage({ prompt, completion, total }: TokensUsed) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
