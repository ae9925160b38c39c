import { isJsonObject } from '../../../text/parse-json.ts';

/** A JSON object from a service. Its fields are not trusted to be as specified. */
export type JsonObject = Record<string, unknown>;

/** The objects in a list; none if the value is no list. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The first value that is a string and not empty. */
export function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

/** Token counts as numbers; undefined if the service sent none. */
export function repairUsage(usage: unknown, inputKey: string, outputKey: string): JsonObject | undefined {
  if (!isJsonObject(usage)) return undefined;
  const inputTokens = toCount(usage[inputKey]);
  const outputTokens = toCount(usage[outputKey]);
  const details = Object.entries(usage).filter(
    ([key, value]) => key.endsWith('_details') && isJsonObject(value),
  );
  return {
    ...Object.fromEntries(details),
    [inputKey]: inputTokens,
    [outputKey]: outputTokens,
    total_tokens: toCount(usage.total_tokens) || inputTokens + outputTokens,
  };
}

function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
