import type { TapeBody, TapeJson } from './tape-format.ts';
import { VOLATILE_FIELDS } from './volatile-fields.ts';

/** From this length on an array of numbers is an embedding. */
const VECTOR_LENGTH = 16;

export interface CanonicalBody {
  /** The same for every body that asks for the same. */
  exact: string;
  /** With embeddings replaced by their lengths; null where there are none. */
  withoutVectors: string | null;
  vectors: number[][];
}

/** A body in the one form that matching compares: keys in order, volatile fields left out, also inside JSON in strings. */
export function canonicalBody(body: TapeBody | undefined): CanonicalBody {
  if (body === undefined) return { exact: '', withoutVectors: null, vectors: [] };
  if (!('json' in body)) return { exact: JSON.stringify(body), withoutVectors: null, vectors: [] };
  const value = canonicalValue(body.json);
  const vectors: number[][] = [];
  const bare = JSON.stringify(value, (_key, each: unknown) => {
    if (!isVector(each)) return each;
    vectors.push(each);
    return `vector of ${each.length}`;
  });
  return {
    exact: vectors.length === 0 ? bare : JSON.stringify(value),
    withoutVectors: vectors.length === 0 ? null : bare,
    vectors,
  };
}

/** The same value with its keys in order and without what is volatile. */
export function canonicalValue(value: TapeJson): TapeJson {
  if (Array.isArray(value)) return isVector(value) ? value : value.map(canonicalValue);
  if (typeof value === 'string') return canonicalText(value);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !VOLATILE_FIELDS.has(key));
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, each]) => [key, canonicalValue(each)]));
}

/** What tools return reaches a model as JSON in a string. */
function canonicalText(text: string): TapeJson {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return JSON.stringify(canonicalValue(JSON.parse(text) as TapeJson));
  } catch {
    return text;
  }
}

function isVector(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length >= VECTOR_LENGTH &&
    value.every((number) => typeof number === 'number')
  );
}
