import { createHash } from 'node:crypto';
import { dotProduct } from '../domain/unit-vectors.ts';
import type { TapeBody, TapeJson, TapeRequest } from './tape-format.ts';

/**
 * Fields of request bodies that differ from run to run and mean nothing to the service: they do not take part in
 * matching. This list is the only place that names them.
 */
export const VOLATILE_FIELDS: ReadonlySet<string> = new Set([
  // How long a search took; the model sees it inside the results of the search tool.
  'execution_time',
  // Options of OpenAI-compatible services that name a caller or a cache, not a question.
  'prompt_cache_key',
  'safety_identifier',
  // When a collection on a Qdrant server was created and changed.
  'createdAt',
  'updatedAt',
  'writtenAt',
  // Which fields of the points found are sent along; which points are found is another matter.
  'with_payload',
]);

/**
 * Where a document lies: a file counts by its name alone and a directory not at all, since they are others on every
 * machine, and tapes of earlier versions hold whole paths.
 */
const PLACE_FIELDS: ReadonlySet<string> = new Set(['url', 'uri', 'root']);
const PLACE_IN_PROMPT = /(?<=<source [^<>]*\burl=")(?!https?:)[^"]*\/(?=[^"/]*")/g;

/** Parameters of URLs of the same kind. */
const VOLATILE_PARAMETERS: ReadonlySet<string> = new Set(['timestamp', 'nonce']);

/** From this length on an array of numbers is an embedding. */
const VECTOR_LENGTH = 16;

/** Least cosine of two embeddings of the same text. */
const SAME_VECTOR = 0.999;

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
  if (a.length !== b.length) return 0;
  const [squareA, squareB] = [dotProduct(a, a), dotProduct(b, b)];
  return squareA === 0 && squareB === 0 ? 1 : dotProduct(a, b) / Math.sqrt(squareA * squareB);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

interface CanonicalBody {
  /** The same for every body that asks for the same. */
  exact: string;
  /** With embeddings replaced by their lengths; null where there are none. */
  withoutVectors: string | null;
  vectors: number[][];
}

/** A body in the one form that matching compares: keys in order, volatile fields left out, also inside JSON in strings. */
function canonicalBody(body: TapeBody | undefined): CanonicalBody {
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
    if (VOLATILE_FIELDS.has(key)) continue;
    const each = value[key] as TapeJson;
    const isPlace = PLACE_FIELDS.has(key) && typeof each === 'string' && !/^https?:/i.test(each);
    result[key] = isPlace ? lastName(each) : ordered(each, vectors);
  }
  return result;
}

function lengthOfVector(_key: string, value: unknown): unknown {
  return isVector(value) ? `vector of ${value.length}` : value;
}

/** Of `file:///home/a/docs/x.md` and `docs/x.md` the same. */
function lastName(place: string): string {
  return place.slice(place.lastIndexOf('/') + 1);
}

/** What tools return reaches a model as JSON in a string. */
function canonicalText(text: string): TapeJson {
  if (text.startsWith('file:///')) return lastName(text);
  if (!/^\s*[{[]/.test(text)) return text.replace(PLACE_IN_PROMPT, '');
  try {
    return JSON.stringify(canonicalValue(JSON.parse(text) as TapeJson));
  } catch {
    return text;
  }
}

export function isVector(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length >= VECTOR_LENGTH &&
    value.every((number) => typeof number === 'number')
  );
}
