import { AppError } from '../../../domain/app-error.ts';
import type { Exchange } from './exchange.ts';
import { firstText, isObject, type JsonObject, objectsOf } from './json-object.ts';
import { contentText } from './mend-chat-message.ts';
import { argumentsText, newCallId, ownCallId } from './tool-calls.ts';
import { mendUsage } from './usage.ts';

/**
 * A Responses API answer, mended. One that was cut at the token limit counts as complete if it holds
 * something, as it does in Chat Completions; `incomplete_details` still tells.
 */
export function mendResponse(body: JsonObject, exchange: Exchange): JsonObject {
  const items = objectsOf(body.output);
  const text = items.length === 0 ? firstText(body.output_text) : undefined;
  const output = (text === undefined ? items : [{ type: 'message', content: text }]).map((item) =>
    mendItem(item, exchange),
  );
  const usage = mendUsage(body.usage, 'input_tokens', 'output_tokens');
  const { usage: _usage, ...rest } = body;
  if (body.status === 'incomplete' && !output.some(isUseful)) throw cutShort(body.incomplete_details);
  return {
    ...rest,
    id: firstText(body.id) ?? `resp_${newCallId()}`,
    object: 'response',
    status: 'completed',
    output,
    ...(usage !== undefined && { usage }),
  };
}

function mendItem(item: JsonObject, exchange: Exchange): JsonObject {
  if (item.type === 'function_call') {
    return {
      ...item,
      id: firstText(item.id) ?? `fc_${newCallId()}`,
      call_id: ownCallId(item.call_id, exchange.callIds),
      name: firstText(item.name) ?? '',
      arguments: argumentsText(item.arguments),
      status: 'completed',
    };
  }
  if (item.type === 'message') {
    return {
      ...item,
      id: firstText(item.id) ?? `msg_${newCallId()}`,
      role: 'assistant',
      content: Array.isArray(item.content) ? objectsOf(item.content).map(mendPart) : [textPart(item.content)],
      status: 'completed',
    };
  }
  if (item.type === 'reasoning') return { ...item, summary: objectsOf(item.summary) };
  return item;
}

function mendPart(part: JsonObject): JsonObject {
  if (part.type === 'refusal') return part;
  return { ...part, ...textPart(firstText(part.text) ?? '') };
}

function textPart(content: unknown): JsonObject {
  return { type: 'output_text', text: contentText(content), annotations: [] };
}

function isUseful(item: JsonObject): boolean {
  return item.type === 'message' && contentText(item.content).trim() !== '';
}

function cutShort(details: unknown): AppError {
  if (isObject(details) && details.reason === 'content_filter') {
    return new AppError('api_error', 'The answer was withheld by the content filter of the model service.', {
      hint: 'Rephrase the question.',
    });
  }
  return new AppError('api_error', 'The model reached its limit of tokens before it had an answer.', {
    hint: 'Raise --max-tokens.',
  });
}
