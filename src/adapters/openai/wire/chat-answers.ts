import { isJsonObject } from '../../../text/parse-json.ts';
import { brokenStream } from './answer-errors.ts';
import type { StreamRepair } from './event-stream.ts';
import { firstText, type JsonObject, objectsIn, repairUsage } from './json-object.ts';
import { addCallIndexes, createToolCallCollector, repairToolCalls } from './tool-calls.ts';
import { parseWireError } from './wire-error.ts';
import { REASONING_KEYS, type ServiceQuirks, type WireExchange } from './wire-exchange.ts';

/** Repairs a Chat Completions answer that was not streamed. */
export function repairChatCompletion(body: JsonObject, exchange: WireExchange): JsonObject {
  return {
    ...body,
    id: firstText(body.id) ?? `chatcmpl-${exchange.newId()}`,
    choices: objectsIn(body.choices).map((choice, index) => repairChoice(choice, index, exchange)),
    usage: repairUsage(body.usage, 'prompt_tokens', 'completion_tokens'),
  };
}

function repairChoice(choice: JsonObject, index: number, exchange: WireExchange): JsonObject {
  const message = isJsonObject(choice.message) ? choice.message : {};
  exchange.quirks.reasoningKey ??= findReasoningKey(message);
  const calls = repairToolCalls(message, exchange);
  return {
    index,
    finish_reason: firstText(choice.finish_reason) ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    message: { content: null, ...repairMessage(message), ...(calls.length > 0 && { tool_calls: calls }) },
  };
}

/** A whole answer as stream events, for services that do not stream when asked to. */
export function toChatEvents(completion: JsonObject): JsonObject[] {
  const choices = objectsIn(completion.choices).map(({ message, ...choice }) => {
    const delta = isJsonObject(message) ? message : {};
    const calls = addCallIndexes(objectsIn(delta.tool_calls));
    return { ...choice, delta: { ...delta, ...(calls.length > 0 && { tool_calls: calls }) } };
  });
  return [{ ...completion, choices }];
}

/** The text of a message or delta: a string, or a list of parts of which some are reasoning. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map((part) => firstText(part.text, isJsonObject(part.text) ? part.text.value : undefined) ?? '')
    .join('');
}

function findReasoningKey(message: JsonObject): ServiceQuirks['reasoningKey'] {
  return REASONING_KEYS.find((key) => firstText(message[key]) !== undefined);
}

/** The fields of a message or delta that are used, under the names that the SDK reads. */
function repairMessage(message: JsonObject): JsonObject {
  const content = contentText(message.content);
  const reasoningKey = findReasoningKey(message);
  return {
    role: 'assistant',
    ...(content !== '' && { content }),
    refusal: firstText(message.refusal),
    reasoning: reasoningKey && message[reasoningKey],
  };
}

/**
 * Repairs the chunks of a Chat Completions stream. Text is passed on as it arrives; tool calls are collected and passed
 * on whole at the end, since the SDK does not use them earlier.
 */
export function createChatStreamRepair(exchange: WireExchange): StreamRepair {
  const collector = createToolCallCollector();
  let head: JsonObject = {};
  let hasBegun = false;
  let isFinished = false;

  const toChunk = (choices: JsonObject[], usage?: JsonObject): JsonObject => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    usage,
  });

  return {
    keepAlive: () => toChunk([]),
    accept(chunk) {
      const error = parseWireError(chunk);
      if (error !== undefined) return [{ error }];
      head = {
        id: chunk.id || head.id,
        created: chunk.created || head.created,
        model: chunk.model || head.model,
      };
      const usage = repairUsage(chunk.usage, 'prompt_tokens', 'completion_tokens');
      const choice = objectsIn(chunk.choices).find((each) => (each.index ?? 0) === 0);
      if (choice === undefined) return [toChunk([], usage)];
      const delta = isJsonObject(choice.delta) ? choice.delta : {};
      exchange.quirks.reasoningKey ??= findReasoningKey(delta);
      collector.add(delta);
      hasBegun = true;
      const reason = firstText(choice.finish_reason);
      isFinished ||= reason !== undefined;
      return [toChunk([{ index: 0, delta: repairMessage(delta), finish_reason: reason ?? null }], usage)];
    },
    joinText(chunk, next) {
      const [text, more] = [onlyText(chunk), onlyText(next)];
      if (text === null || more === null) return null;
      const delta = { role: 'assistant', content: text + more };
      return toChunk([{ index: 0, delta, finish_reason: null }]);
    },
    isComplete: () => isFinished,
    finish(isClosed) {
      // Some services never send a finish reason. Their [DONE] counts, unless it cuts off a call.
      if (!isFinished && !(isClosed && collector.isComplete())) throw brokenStream(hasBegun);
      const calls = repairToolCalls({ tool_calls: collector.calls() }, exchange);
      if (calls.length === 0) return [];
      return [
        toChunk([{ index: 0, delta: { tool_calls: addCallIndexes(calls) }, finish_reason: 'tool_calls' }]),
      ];
    },
  };
}

/** The text of a repaired chunk that has nothing else, or null. */
function onlyText({ choices, usage }: JsonObject): string | null {
  const [choice] = objectsIn(choices);
  if (choice === undefined || choice.finish_reason !== null || usage !== undefined) return null;
  const { content, refusal, reasoning } = choice.delta as JsonObject;
  return typeof content === 'string' && refusal === undefined && reasoning === undefined ? content : null;
}
