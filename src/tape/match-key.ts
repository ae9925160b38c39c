import { createHash } from 'node:crypto';
import { canonicalBody } from './canonical-body.ts';
import type { TapeRequest } from './tape-format.ts';
import { VOLATILE_PARAMETERS } from './volatile-fields.ts';

/** What a request is found by. The host does not count: a tape replays whatever the service's address is now. */
export interface MatchKey {
  exact: string;
  /**
   * For requests with embeddings: the same but for their numbers, which the same model gives a little differently
   * on another processor. Null without any.
   */
  nearly: string | null;
  vectors: number[][];
}

/** Least cosine of two embeddings of the same text. */
const SAME_VECTOR = 0.999;

export function matchKey({ method, url, body }: TapeRequest): MatchKey {
  const place = `${method} ${pathOf(url)}\n`;
  const { exact, withoutVectors, vectors } = canonicalBody(body);
  return {
    exact: hashOf(place + exact),
    nearly: withoutVectors === null ? null : hashOf(`~${place}${withoutVectors}`),
    vectors,
  };
}

/** Path and query, with its parameters in order and without the volatile ones. */
export function pathOf(url: string): string {
  const { pathname, searchParams } = new URL(url);
  for (const name of [...searchParams.keys()]) if (VOLATILE_PARAMETERS.has(name)) searchParams.delete(name);
  searchParams.sort();
  const query = searchParams.toString();
  return query === '' ? pathname : `${pathname}?${query}`;
}

export function sameVectors(a: readonly number[][], b: readonly number[][]): boolean {
  return a.length === b.length && a.every((vector, index) => cosine(vector, b[index] ?? []) >= SAME_VECTOR);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, lengthA, lengthB] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    dot += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return lengthA === 0 && lengthB === 0 ? 1 : dot / Math.sqrt(lengthA * lengthB);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
