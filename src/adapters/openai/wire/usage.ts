import { isObject, type JsonObject } from './json-object.ts';

/** Token counts as numbers; undefined where the service sent none. */
export function mendUsage(usage: unknown, input: string, output: string): JsonObject | undefined {
  if (!isObject(usage)) return undefined;
  const inputTokens = countOf(usage[input]);
  const outputTokens = countOf(usage[output]);
  const details = Object.entries(usage).filter(([key, value]) => key.endsWith('_details') && isObject(value));
  return {
    ...Object.fromEntries(details),
    [input]: inputTokens,
    [output]: outputTokens,
    total_tokens: countOf(usage.total_tokens) || inputTokens + outputTokens,
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
