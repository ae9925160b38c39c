import type { AppError } from '../../../faults/app-error.ts';
import { outOfTokens, withheldByFilter } from '../../../faults/cut-answer.ts';
import type { Exchange } from './exchange.ts';
import { firstText, isObject, type JsonObject, objectsOf } from './json-object.ts';
import { contentText } from './mend-chat-completion.ts';
import { argumentsText, isStub, ownCallId, toolNamed } from './tool-calls.ts';
import { mendUsage } from './usage.ts';

/**
 * A Responses API answer, mended. One that was cut at the token limit counts as complete if it holds
 * something, as it does in Chat Completions; `incomplete_details` still tells.
 */
export function mendResponse(body: JsonObject, exchange: Exchange): JsonObject {
  const items = objectsOf(body.output).filter((item) => item.type !== 'function_call' || !isStub(item));
  const text = items.length === 0 ? firstText(body.output_text) : undefined;
  const output = (text === undefined ? items : [{ type: 'message', content: text }]).map((item) =>
    mendItem(item, exchange),
  );
  const usage = mendUsage(body.usage, 'input_tokens', 'output_tokens');
  const { usage: _usage, ...rest } = body;
  if (body.status === 'incomplete' && !output.some(isUseful)) throw cutShort(body);
  return {
    ...rest,
    id: firstText(body.id) ?? `resp_${exchange.newId()}`,
    object: 'response',
    status: 'completed',
    output,
    ...(usage !== undefined && { usage }),
  };
}

function mendItem(item: JsonObject, exchange: Exchange): JsonObject {
  if (item.type === 'function_call') {
    // We offer no namespaces, and the SDK would look the tool up in one.
    const { namespace: _namespace, ...rest } = item;
    return {
      ...rest,
      id: firstText(item.id) ?? `fc_${exchange.newId()}`,
      call_id: ownCallId(item.call_id, exchange),
      name: toolNamed(item.name, exchange.toolNames),
      arguments: argumentsText(item.arguments),
      status: 'completed',
    };
  }
  if (item.type === 'message') {
    return {
      ...item,
      id: firstText(item.id) ?? `msg_${exchange.newId()}`,
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

function cutShort({ incomplete_details: details, output, usage }: JsonObject): AppError {
  if (isObject(details) && details.reason === 'content_filter') return withheldByFilter();
  const spent = isObject(usage) && isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const hasThoughts = objectsOf(output).some(({ type }) => type === 'reasoning');
  return outOfTokens(hasThoughts || Number(spent.reasoning_tokens) > 0);
}
