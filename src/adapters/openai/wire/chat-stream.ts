import { brokenStream } from './broken-answer.ts';
import type { Exchange } from './exchange.ts';
import { firstText, isObject, type JsonObject, objectsOf } from './json-object.ts';
import { mendContent, reasoningKeyOf } from './mend-chat-completion.ts';
import type { StreamMender } from './stream-mender.ts';
import { createToolCallCollector, mendToolCalls, numbered } from './tool-calls.ts';
import { mendUsage } from './usage.ts';
import { wireErrorOf } from './wire-error.ts';

/**
 * Mends the chunks of a Chat Completions stream. Text passes as it comes; tool calls are held back and come
 * whole at the end, since the SDK does not use them earlier.
 */
export function createChatStreamMender(exchange: Exchange): StreamMender {
  const collector = createToolCallCollector();
  let head: JsonObject = {};
  let begun = false;
  let finished = false;

  const chunkOf = (choices: JsonObject[], usage?: JsonObject): JsonObject => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    ...(usage !== undefined && { usage }),
  });

  return {
    get signOfLife() {
      return chunkOf([]);
    },
    accept(chunk) {
      if (isPieceOfText(chunk)) {
        head = headOf(chunk, head);
        begun = true;
        return [chunk];
      }
      const error = wireErrorOf(chunk);
      if (error !== undefined) return [{ error }];
      head = headOf(chunk, head);
      const groq = isObject(chunk.x_groq) ? chunk.x_groq : {};
      const usage = mendUsage(chunk.usage ?? groq.usage, 'prompt_tokens', 'completion_tokens');
      const choice = objectsOf(chunk.choices).find((each) => (each.index ?? 0) === 0);
      if (choice === undefined) return [chunkOf([], usage)];
      const delta = [choice.delta, choice.message].find(isObject) ?? {};
      exchange.dialect.reasoningKey ??= reasoningKeyOf(delta);
      collector.add(delta);
      begun = true;
      const reason = firstText(choice.finish_reason);
      finished ||= reason !== undefined;
      return [chunkOf([{ index: 0, delta: mendContent(delta), finish_reason: reason ?? null }], usage)];
    },
    isDone: () => finished,
    finish(closed) {
      // Some services never give a reason. Their [DONE] is trusted, unless it cuts a call short.
      if (!finished && !(closed && collector.isComplete())) throw brokenStream(begun);
      const calls = mendToolCalls({ tool_calls: collector.calls() }, exchange);
      if (calls.length === 0) return [];
      return [chunkOf([{ index: 0, delta: { tool_calls: numbered(calls) }, finish_reason: 'tool_calls' }])];
    },
  };
}

function headOf({ id, created, model }: JsonObject, before: JsonObject): JsonObject {
  return { id: id || before.id, created: created || before.created, model: model || before.model };
}

const KEYS_OF_PIECE = new Set(
  'id object created model choices usage system_fingerprint service_tier'.split(' '),
);
const KEYS_OF_CHOICE = new Set('index delta finish_reason logprobs'.split(' '));
const KEYS_OF_DELTA = new Set('role content'.split(' '));

/** As nearly every chunk is, and as the specification has it: there is nothing to mend. */
function isPieceOfText(chunk: JsonObject): boolean {
  const { choices } = chunk;
  if (!Array.isArray(choices) || choices.length !== 1) return false;
  const [choice] = choices as unknown[];
  if (!isObject(choice) || choice.index !== 0 || choice.finish_reason !== null) return false;
  const { delta } = choice;
  return (
    isText(chunk.id) &&
    (chunk.usage ?? null) === null &&
    isObject(delta) &&
    isText(delta.content) &&
    holdsOnly(chunk, KEYS_OF_PIECE) &&
    holdsOnly(choice, KEYS_OF_CHOICE) &&
    holdsOnly(delta, KEYS_OF_DELTA)
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function holdsOnly(object: JsonObject, keys: ReadonlySet<string>): boolean {
  for (const key in object) if (!keys.has(key)) return false;
  return true;
}
