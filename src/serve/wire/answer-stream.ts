import { begunWithin } from '../http/begun-within.ts';
import { streamResponse } from '../http/stream-response.ts';
import type { Answer, AnswerEvent, AnswerHead, UrlCitation } from './answer.ts';
import { chatChunks } from './chat-completion.ts';
import type { ModelCall } from './model-call.ts';
import { toRequestFault, toWireError } from './request-fault.ts';
import { responseEvents } from './response-events.ts';

/** How long a fault may take to become an HTTP status; later ones are told within the stream. */
const BEGIN_MS = 10_000;

interface AnswerStreamOptions {
  head: AnswerHead;
  call: ModelCall;
  events: AsyncIterable<AnswerEvent>;
  onCancel: () => void;
  annotate?: (sent: string, answer: Answer) => UrlCitation[];
}

/** An answer as server-sent events of the Chat Completions API. Throws what fails before anything was sent. */
export async function chatStream({
  head,
  call,
  events,
  onCancel,
  annotate,
}: AnswerStreamOptions): Promise<Response> {
  const options = { includeUsage: call.includeUsage, ...(annotate && { annotate }) };
  const begun = await begunWithin(chatChunks(head, events, options), BEGIN_MS);
  return streamResponse(chatPieces(begun), {
    contentType: 'text/event-stream',
    onFailure: (error) => dataLine(toWireError(toRequestFault(error))),
    onCancel,
  });
}

/** The same for the Responses API. */
export async function responseStream({
  head,
  call,
  events,
  onCancel,
}: AnswerStreamOptions): Promise<Response> {
  const begun = await begunWithin(responseEvents(head, call, events), BEGIN_MS);
  return streamResponse(responsePieces(begun), {
    contentType: 'text/event-stream',
    onFailure: (error) => {
      const { code, message, param } = toWireError(toRequestFault(error)).error;
      return `event: error\n${dataLine({ type: 'error', code, message, param, sequence_number: 0 })}`;
    },
    onCancel,
  });
}

async function* chatPieces(chunks: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield dataLine(chunk);
  yield 'data: [DONE]\n\n';
}

async function* responsePieces(events: AsyncIterable<{ type: string }>): AsyncGenerator<string> {
  for await (const event of events) yield `event: ${event.type}\n${dataLine(event)}`;
}

function dataLine(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
