import type { TokensUsed } from '../../domain/agent-response.ts';
import type { ToolCall } from '../../domain/conversation-message.ts';
import { type Answer, type AnswerEvent, type AnswerHead, restOf, type UrlCitation } from './answer.ts';

/** An answer as the object that `POST /v1/chat/completions` gives back. */
export function chatCompletion(head: AnswerHead, answer: Answer): Record<string, unknown> {
  const { text, citations, calls } = answer;
  return {
    ...commonFields(head, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          refusal: null,
          annotations: citations.map(annotation),
          ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
        },
        logprobs: null,
        finish_reason: finishReason(answer),
      },
    ],
    usage: chatUsage(answer.usage),
    ...answer.extra,
  };
}

interface ChunkOptions {
  includeUsage: boolean;
  /** The annotations for what was really sent, where that is not the text of the answer. */
  annotate?: (sent: string, answer: Answer) => UrlCitation[];
}

/** An answer as the chunks of a stream, without the mark at its end. */
export async function* chatChunks(
  head: AnswerHead,
  events: AsyncIterable<AnswerEvent>,
  { includeUsage, annotate = (_, { citations }) => citations }: ChunkOptions,
): AsyncGenerator<Record<string, unknown>> {
  const chunk = (delta: Record<string, unknown>, finish: string | null = null, extra = {}) => ({
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
    const citations = annotate(sent + rest, answer);
    if (citations.length > 0) yield chunk({ annotations: citations.map(annotation) });
    yield chunk({}, finishReason(answer), answer.extra);
    if (includeUsage)
      yield { ...commonFields(head, 'chat.completion.chunk'), choices: [], usage: chatUsage(answer.usage) };
  }
}

function commonFields({ id, createdAt, model }: AnswerHead, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAt, model, system_fingerprint: null };
}

function finishReason({ calls }: Answer): string {
  return calls.length > 0 ? 'tool_calls' : 'stop';
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
