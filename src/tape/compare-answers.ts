import { isVector, sameVectors } from './match-key.ts';
import { eventPayloads } from './redact/redact-chunks.ts';
import type { TapeExchange, TapeJson, TapeResponse } from './tape-format.ts';

/** Response fields that differ from call to call although the answer is the same. */
const TIMING_FIELDS: ReadonlySet<string> = new Set([
  'created',
  'created_at',
  'completed_at',
  'expires_at',
  'timestamp',
  'time',
  'queue_time',
  'prompt_time',
  'completion_time',
  'total_time',
  'total_duration',
  'load_duration',
  'prompt_eval_duration',
  'eval_duration',
  'system_fingerprint',
  'obfuscation',
  'durationMs',
  'elapsedMs',
]);
const ID_FIELD = /(?:^|_)id$|Id$/;
/** Qdrant point ids are derived from the content, so they are compared like content. */
const QDRANT_PATH = /^\/collections(?:\/|$)/;

/** Maps ids generated in a new recording to the ids at the same position of an older one. */
export interface IdMap {
  /** False if one of the two is already paired with another id. */
  pair(newId: string, oldId: string): boolean;
  /** Replaces every paired new id in a JSON value by the old one. */
  toOldIds<T>(value: T): T;
}

export function createIdMap(known: Iterable<readonly [string, string]> = []): IdMap {
  const oldIds = new Map(known);
  const newIds = new Map(Array.from(oldIds, ([newId, oldId]) => [oldId, newId]));
  return {
    pair(newId, oldId) {
      if (newId === oldId) return true;
      if ((oldIds.get(newId) ?? oldId) !== oldId || (newIds.get(oldId) ?? newId) !== newId) return false;
      oldIds.set(newId, oldId);
      newIds.set(oldId, newId);
      return true;
    },
    toOldIds(value) {
      if (oldIds.size === 0 || value === undefined) return value;
      const text = JSON.stringify(value).replace(/[\w-]{6,}/g, (word) => oldIds.get(word) ?? word);
      return JSON.parse(text) as typeof value;
    },
  };
}

/** Whether two responses are equal except for timing and generated ids, which are paired in `ids`. */
export function isSameAnswer(now: TapeExchange, before: TapeExchange, ids: IdMap): boolean {
  if (now.failure?.name !== before.failure?.name || now.failure?.code !== before.failure?.code) return false;
  if (now.response?.status !== before.response?.status) return false;
  if (now.response?.headers['content-type'] !== before.response?.headers['content-type']) return false;
  const isQdrant = QDRANT_PATH.test(new URL(now.request.url).pathname);
  return isSameValue(responseValue(now.response), responseValue(before.response), isQdrant ? null : ids);
}

/** Equality except for timing fields and, unless `ids` is null, generated ids. */
export function isSameValue(
  now: TapeJson | undefined,
  before: TapeJson | undefined,
  ids: IdMap | null,
  key = '',
): boolean {
  if (TIMING_FIELDS.has(key)) return typeof now === typeof before;
  if (typeof now === 'string' && typeof before === 'string') {
    if (now === before || ids === null) return now === before;
    return ID_FIELD.test(key) ? ids.pair(now, before) : ids.toOldIds(now) === before;
  }
  if (typeof now !== 'object' || typeof before !== 'object' || now === null || before === null)
    return now === before;
  if (Array.isArray(now) || Array.isArray(before)) {
    if (!Array.isArray(now) || !Array.isArray(before) || now.length !== before.length) return false;
    if (isVector(now) && isVector(before)) return sameVectors([now], [before]);
    return now.every((each, index) => isSameValue(each, before[index], ids));
  }
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...names].every((name) => isSameValue(now[name], before[name], ids, name));
}

/** The body of a response; for a stream the list of its events, however they were split into chunks. */
export function responseValue(response: TapeResponse | undefined): TapeJson | undefined {
  if (response?.chunks !== undefined) return eventPayloads(response.chunks);
  const { body } = response ?? {};
  if (body === undefined) return undefined;
  if ('json' in body) return body.json;
  return 'text' in body ? body.text : body.base64;
}
