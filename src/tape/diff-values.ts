import { oneLine } from '../text/visible-text.ts';
import { isVector, sameVectors } from './match-key.ts';
import type { TapeJson } from './tape-format.ts';

const SHOWN_LENGTH = 70;

export interface Difference {
  /** Such as `messages[1].content`. */
  path: string;
  /** Undefined where there was nothing. */
  before: TapeJson | undefined;
  after: TapeJson | undefined;
}

/** Compares two values field by field. Embeddings are equal from a cosine of 0.999. */
export function diffValues(
  before: TapeJson | undefined,
  after: TapeJson | undefined,
  path = '',
): Difference[] {
  if (isVector(before) && isVector(after)) {
    if (sameVectors([before], [after])) return [];
    const other = before.length === after.length ? 'another vector' : 'vector';
    return [{ path, before: `vector of ${before.length}`, after: `${other} of ${after.length}` }];
  }
  if (isList(before) && isList(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) =>
      diffValues(before[index], after[index], `${path}[${index}]`),
    ).flat();
  }
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      diffValues(before[key], after[key], path === '' ? key : `${path}.${key}`),
    );
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path: path || 'body', before, after }];
}

/** How much of two values is the same, 0 to 1: the share of their leaves that agree. */
export function similarity(before: TapeJson | undefined, after: TapeJson | undefined): number {
  const leaves = Math.max(countLeaves(before), countLeaves(after), 1);
  const differing = diffValues(before, after).reduce(
    (sum, difference) =>
      sum + Math.max(countLeaves(difference.before), countLeaves(difference.after)) * unlike(difference),
    0,
  );
  return Math.max(0, 1 - differing / leaves);
}

/** Two texts that begin alike are less different than two that share nothing. */
function unlike({ before, after }: Difference): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 1;
  const length = Math.max(before.length, after.length, 1);
  let same = 0;
  while (same < length && before[same] === after[same]) same += 1;
  return 1 - same / length / 2;
}

/** A difference on one line, for people. */
export function formatDifference({ path, before, after }: Difference): string {
  const [was, is] = aroundChange(shown(before), shown(after));
  return `  ${oneLine(path, 60)}: ${was} -> ${is}`;
}

function shown(value: TapeJson | undefined): string {
  if (value === undefined) return '(nothing)';
  return oneLine(JSON.stringify(value), Number.POSITIVE_INFINITY);
}

/** Long texts are shown from a little before the place where they part. */
function aroundChange(before: string, after: string): [string, string] {
  let same = 0;
  while (same < before.length && same < after.length && before[same] === after[same]) same += 1;
  const from = same > SHOWN_LENGTH / 2 ? same - 20 : 0;
  const cut = (text: string) =>
    from > 0 ? `…${oneLine(text.slice(from), SHOWN_LENGTH)}` : oneLine(text, SHOWN_LENGTH);
  return [cut(before), cut(after)];
}

function countLeaves(value: TapeJson | undefined): number {
  if (value === undefined) return 0;
  if (isVector(value)) return 1;
  if (isList(value)) return value.reduce((sum: number, each) => sum + countLeaves(each), 0);
  if (isRecord(value)) return Object.values(value).reduce((sum: number, each) => sum + countLeaves(each), 0);
  return 1;
}

function isList(value: TapeJson | undefined): value is TapeJson[] {
  return Array.isArray(value);
}

function isRecord(value: TapeJson | undefined): value is { [key: string]: TapeJson } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
