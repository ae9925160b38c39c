import { type Answer, type AnswerEvent, type AnswerHead, restOf } from './answer.ts';
import type { ModelCall } from './model-call.ts';
import { toRequestFault } from './request-fault.ts';
import {
  annotation,
  callItem,
  failedResponse,
  messageItem,
  openResponse,
  responseObject,
  textPart,
} from './response-object.ts';

type Json = Record<string, unknown>;
export type ResponseEvent = Json & { type: string };

/** An answer as the events of a stream. A failure on the way is the last event, `response.failed`. */
export async function* responseEvents(
  head: AnswerHead,
  call: ModelCall,
  events: AsyncIterable<AnswerEvent>,
): AsyncGenerator<ResponseEvent> {
  let sequence = 0;
  const event = (type: string, fields: Json): ResponseEvent => ({
    type,
    sequence_number: sequence++,
    ...fields,
  });
  const message = { item_id: `msg_${head.id}`, output_index: 0, content_index: 0 };
  let sent = '';
  let begun = false;
  let inMessage = false;

  function* begin(): Generator<ResponseEvent> {
    if (begun) return;
    begun = true;
    yield event('response.created', { response: openResponse(head, call) });
    yield event('response.in_progress', { response: openResponse(head, call) });
  }

  function* delta(text: string): Generator<ResponseEvent> {
    if (!inMessage) {
      inMessage = true;
      const item = { ...messageItem(head, '', []), status: 'in_progress', content: [] };
      yield event('response.output_item.added', { output_index: 0, item });
      yield event('response.content_part.added', { ...message, part: textPart('', []) });
    }
    sent += text;
    if (text !== '') yield event('response.output_text.delta', { ...message, delta: text, logprobs: [] });
  }

  function* endMessage({ text, citations }: Answer): Generator<ResponseEvent> {
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

  function* calls(answer: Answer): Generator<ResponseEvent> {
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
      yield event('response.completed', { response: responseObject(head, call, answer) });
    }
  } catch (error) {
    // Before anything was sent, the fault is better told by the HTTP status.
    if (!begun) throw error;
    yield event('response.failed', { response: failedResponse(head, call, toRequestFault(error)) });
  }
}
