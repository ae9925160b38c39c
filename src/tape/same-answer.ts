import { sameVectors } from './match-key.ts';
import { eventPayloads } from './redact/redact-chunks.ts';
import type { TapeExchange, TapeJson, TapeResponse } from './tape-format.ts';

/** What services say of the moment and of themselves: it differs from call to call though the answer is the same. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set([
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
const ID = /(?:^|_)id$|Id$/;
/** Points of Qdrant have ids of ours, made of what they hold. */
const OWN_IDS = /^\/collections(?:\/|$)/;

/** Ids that a service made up, each with the one that stands on the tape of before. */
export interface RenamedIds {
  /** Whether the one may stand for the other from now on. */
  pair(now: string, before: string): boolean;
  /** The same value with the ids of before. */
  renamed<T>(value: T): T;
}

export function createRenamedIds(known: Iterable<readonly [string, string]> = []): RenamedIds {
  const before = new Map(known);
  const now = new Map(Array.from(before, ([one, other]) => [other, one]));
  return {
    pair(one, other) {
      if (one === other) return true;
      if ((before.get(one) ?? other) !== other || (now.get(other) ?? one) !== one) return false;
      before.set(one, other);
      now.set(other, one);
      return true;
    },
    renamed(value) {
      if (before.size === 0 || value === undefined) return value;
      const text = JSON.stringify(value).replace(/[\w-]{6,}/g, (word) => before.get(word) ?? word);
      return JSON.parse(text) as typeof value;
    },
  };
}

/** Whether a service answered the same, but for its ids and times. Ids are paired as they are met. */
export function sameAnswer(now: TapeExchange, before: TapeExchange, ids: RenamedIds): boolean {
  if (now.failure?.name !== before.failure?.name || now.failure?.code !== before.failure?.code) return false;
  if (now.response?.status !== before.response?.status) return false;
  if (now.response?.headers['content-type'] !== before.response?.headers['content-type']) return false;
  const withIds = !OWN_IDS.test(new URL(now.request.url).pathname);
  return sameValue(answerValue(now.response), answerValue(before.response), withIds ? ids : null);
}

/** Whether two values are the same but for ids, if any may differ, and times. */
export function sameValue(
  now: TapeJson | undefined,
  before: TapeJson | undefined,
  ids: RenamedIds | null,
  key = '',
): boolean {
  if (OF_THE_MOMENT.has(key)) return typeof now === typeof before;
  if (typeof now === 'string' && typeof before === 'string') {
    if (now === before || ids === null) return now === before;
    return ID.test(key) ? ids.pair(now, before) : ids.renamed(now) === before;
  }
  if (typeof now !== 'object' || typeof before !== 'object' || now === null || before === null)
    return now === before;
  if (Array.isArray(now) || Array.isArray(before)) {
    if (!Array.isArray(now) || !Array.isArray(before) || now.length !== before.length) return false;
    if (isVector(now) && isVector(before)) return sameVectors([now], [before]);
    return now.every((each, index) => sameValue(each, before[index], ids));
  }
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...names].every((name) => sameValue(now[name], before[name], ids, name));
}

/** What was answered, however it was cut into chunks. */
export function answerValue(response: TapeResponse | undefined): TapeJson | undefined {
  if (response?.chunks !== undefined) return eventPayloads(response.chunks);
  const { body } = response ?? {};
  if (body === undefined) return undefined;
  if ('json' in body) return body.json;
  return 'text' in body ? body.text : body.base64;
}

function isVector(list: readonly TapeJson[]): list is number[] {
  return list.length >= 16 && list.every((each) => typeof each === 'number');
}
