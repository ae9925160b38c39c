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
  const vectors: number[][] = [];
  const value = ordered(body.json, vectors);
  return {
    exact: JSON.stringify(value),
    withoutVectors: vectors.length === 0 ? null : JSON.stringify(value, lengthOfVector),
    vectors,
  };
}

/** The same value with its keys in order and without what is volatile. */
export function canonicalValue(value: TapeJson): TapeJson {
  return ordered(value, []);
}

function ordered(value: TapeJson, vectors: number[][]): TapeJson {
  if (typeof value === 'string') return canonicalText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (!isVector(value)) return value.map((each) => ordered(each, vectors));
    vectors.push(value);
    return value;
  }
  const result: { [key: string]: TapeJson } = Object.create(null);
  for (const key of Object.keys(value).sort()) {
    if (!VOLATILE_FIELDS.has(key)) result[key] = ordered(value[key] as TapeJson, vectors);
  }
  return result;
}

function lengthOfVector(_key: string, value: unknown): unknown {
  return isVector(value) ? `vector of ${value.length}` : value;
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
