import { isJsonObject } from '../text/parse-json.ts';
import { oneLine } from '../text/visible-text.ts';
import { areSameVectors, isEmbeddingVector } from './match-key.ts';
import type { TapeJson } from './tape-format.ts';

const SHOWN_LENGTH = 70;

export interface JsonDifference {
  /** Such as `messages[1].content`. */
  path: string;
  /** Undefined if the field is missing. */
  before: TapeJson | undefined;
  after: TapeJson | undefined;
}

/** Compares two values field by field. Embeddings are equal from a cosine of 0.999. */
export function diffJson(
  before: TapeJson | undefined,
  after: TapeJson | undefined,
  path = '',
): JsonDifference[] {
  if (isEmbeddingVector(before) && isEmbeddingVector(after)) {
    if (areSameVectors([before], [after])) return [];
    const other = before.length === after.length ? 'another vector' : 'vector';
    return [{ path, before: `vector of ${before.length}`, after: `${other} of ${after.length}` }];
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) =>
      diffJson(before[index], after[index], `${path}[${index}]`),
    ).flat();
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      diffJson(before[key], after[key], path === '' ? key : `${path}.${key}`),
    );
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path: path || 'body', before, after }];
}

/** The share of fields that are equal, 0 to 1. */
export function jsonSimilarity(before: TapeJson | undefined, after: TapeJson | undefined): number {
  const fields = Math.max(countFields(before), countFields(after), 1);
  const differing = diffJson(before, after).reduce(
    (sum, difference) =>
      sum +
      Math.max(countFields(difference.before), countFields(difference.after)) * dissimilarity(difference),
    0,
  );
  return Math.max(0, 1 - differing / fields);
}

/** At least 0.5: two strings with the same beginning differ less than others. */
function dissimilarity({ before, after }: JsonDifference): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 1;
  return 1 - commonPrefixLength(before, after) / Math.max(before.length, after.length, 1) / 2;
}

/** Such as `  model: "small" -> "large"`. */
export function formatJsonDifference({ path, before, after }: JsonDifference): string {
  const [was, is] = cutAroundChange(formatValue(before), formatValue(after));
  return `  ${oneLine(path, 60)}: ${was} -> ${is}`;
}

function formatValue(value: TapeJson | undefined): string {
  if (value === undefined) return '(nothing)';
  return oneLine(JSON.stringify(value), Number.POSITIVE_INFINITY);
}

/** Long texts are shown from shortly before the first difference. */
function cutAroundChange(before: string, after: string): [string, string] {
  const same = commonPrefixLength(before, after);
  const from = same > SHOWN_LENGTH / 2 ? same - 20 : 0;
  const cut = (text: string) =>
    from > 0 ? `…${oneLine(text.slice(from), SHOWN_LENGTH)}` : oneLine(text, SHOWN_LENGTH);
  return [cut(before), cut(after)];
}

function commonPrefixLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

function countFields(value: TapeJson | undefined): number {
  if (value === undefined) return 0;
  if (typeof value !== 'object' || value === null || isEmbeddingVector(value)) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + countFields(each), 0);
}
