import type { TokensUsed } from '../../domain/agent-response.ts';
import { toErrorBody, toHttpError } from '../http/http-error.ts';
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

/** The object that `POST /v1/chat/completions` returns. */
export function toChatCompletion(identity: AnswerIdentity, answer: AgentAnswer): Record<string, unknown> {
  return {
    ...commonFields(identity, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text,
          refusal: null,
          annotations: findUrlCitations(answer).map(toAnnotation),
        },
        logprobs: null,
        finish_reason: incompleteReason(answer) ?? 'stop',
      },
    ],
    usage: toChatUsage(answer.usage),
    citeloop: answer.citeloop,
  };
}

/** The same as server-sent events. Throws an error that comes before anything was sent. */
export async function streamChatCompletion(
  { identity, events, onCancel }: AnswerStream,
  includeUsage: boolean,
): Promise<Response> {
  return streamResponse(await waitForFirst(chatChunks(identity, events, includeUsage)), {
    contentType: 'text/event-stream',
    onFailure: (error) => formatDataLine(toErrorBody(toHttpError(error))),
    onCancel,
  });
}

async function* chatChunks(
  identity: AnswerIdentity,
  events: AsyncIterable<AnswerEvent>,
  includeUsage: boolean,
): AsyncGenerator<string> {
  const chunk = (delta: Record<string, unknown>, finishReason: string | null = null, extra = {}) =>
    formatDataLine({
      ...commonFields(identity, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
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
    const rest = unsentText(answer.text, sent);
    if (rest !== '') yield chunk({ content: rest });
    const citations = findUrlCitations(answer, sent + rest);
    if (citations.length > 0) yield chunk({ annotations: citations.map(toAnnotation) });
    yield chunk({}, incompleteReason(answer) ?? 'stop', { citeloop: answer.citeloop });
    if (includeUsage) {
      const usage = toChatUsage(answer.usage);
      yield formatDataLine({ ...commonFields(identity, 'chat.completion.chunk'), choices: [], usage });
    }
  }
  yield 'data: [DONE]\n\n';
}

function commonFields({ id, createdAt, model }: AnswerIdentity, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAt, model, system_fingerprint: null };
}

function toAnnotation(citation: UrlCitation) {
  return { type: 'url_citation', url_citation: citation };
}

function toChatUsage({ prompt, completion, total }: TokensUsed) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total };
}
