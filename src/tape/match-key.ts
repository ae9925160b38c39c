import { createHash } from 'node:crypto';
import { dotProduct } from '../domain/unit-vectors.ts';
import { parseJson } from '../text/parse-json.ts';
import type { TapeJson, TapeRequest } from './tape-format.ts';

/** Fields of request bodies that differ between equal runs. They are ignored when a request is matched. */
export const VOLATILE_REQUEST_FIELDS: ReadonlySet<string> = new Set([
  // The duration of a search, which the model sees in the results of the search tool.
  'execution_time',
  // Options of OpenAI-compatible services that identify a caller or a cache.
  'prompt_cache_key',
  'safety_identifier',
  // Generated ids of tool calls and of writes to a Qdrant server.
  'tool_call_id',
  'call_id',
  'changeId',
  // When a collection on a Qdrant server was created and changed.
  'createdAt',
  'updatedAt',
  'writtenAt',
  // Which payload fields Qdrant returns; it does not affect which points are found.
  'with_payload',
]);
const VOLATILE_PARAMETERS: ReadonlySet<string> = new Set(['timestamp', 'nonce']);

/** Fields with the location of a document. Only the file name is compared, since directories differ between machines. */
const LOCATION_FIELDS: ReadonlySet<string> = new Set(['url', 'uri', 'root']);
const DIRECTORY_IN_PROMPT = /(?<=<source [^<>]*\burl=")(?!https?:)[^"]*\/(?=[^"/]*")/g;

/** A longer array of numbers is an embedding. */
const MIN_VECTOR_LENGTH = 16;
/** Another processor computes slightly different embeddings. */
const SAME_VECTOR_COSINE = 0.999;

/** Identifies equal requests. The host is ignored, so that a tape replays for any address of a service. */
export interface MatchKey {
  exact: string;
  /** The key without the numbers of embeddings; null for a request without embeddings. */
  nearly: string | null;
  vectors: number[][];
}

export function createMatchKey({ method, url, body }: TapeRequest): MatchKey {
  const start = `${method} ${canonicalPath(url)}\n`;
  if (body === undefined || !('json' in body))
    return { exact: hashOf(`${start}${JSON.stringify(body) ?? ''}`), nearly: null, vectors: [] };
  const vectors: number[][] = [];
  const value = canonicalJson(body.json, vectors);
  const withoutVectors = () =>
    JSON.stringify(value, (_key, each: unknown) =>
      isEmbeddingVector(each) ? `vector of ${each.length}` : each,
    );
  return {
    exact: hashOf(start + JSON.stringify(value)),
    nearly: vectors.length === 0 ? null : hashOf(`~${start}${withoutVectors()}`),
    vectors,
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Path and sorted query, without volatile parameters. */
export function canonicalPath(url: string): string {
  const { pathname, searchParams } = new URL(url);
  for (const name of [...searchParams.keys()]) if (VOLATILE_PARAMETERS.has(name)) searchParams.delete(name);
  searchParams.sort();
  const query = searchParams.toString();
  return query === '' ? pathname : `${pathname}?${query}`;
}

/** Sorts keys and removes what is ignored in matching, also in JSON inside strings. Adds embeddings to `vectors`. */
export function canonicalJson(value: TapeJson, vectors: number[][] = []): TapeJson {
  if (typeof value === 'string') return canonicalText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (!isEmbeddingVector(value)) return value.map((each) => canonicalJson(each, vectors));
    vectors.push(value);
    return value;
  }
  // The order of the terms in a sparse vector has no meaning.
  const { indices, values } = value;
  if (Array.isArray(indices) && Array.isArray(values)) {
    const terms = indices
      .map((index, at) => ({ index, value: values[at] ?? null }))
      .sort((a, b) => Number(a.index) - Number(b.index));
    return { indices: terms.map((term) => term.index), values: terms.map((term) => term.value) };
  }
  const result: { [key: string]: TapeJson } = Object.create(null);
  for (const key of Object.keys(value).sort()) {
    if (VOLATILE_REQUEST_FIELDS.has(key) || (key === 'id' && isMessageItem(value))) continue;
    const each = value[key] as TapeJson;
    const isPath = LOCATION_FIELDS.has(key) && typeof each === 'string' && !/^https?:/i.test(each);
    result[key] = isPath ? fileName(each) : canonicalJson(each, vectors);
  }
  return result;
}

/** A message or tool call, whose id is generated. */
function isMessageItem(value: object): boolean {
  return ['role', 'function', 'call_id', 'arguments'].some((field) => field in value);
}

/** A model receives the results of tools as JSON in a string. */
function canonicalText(text: string): TapeJson {
  if (text.startsWith('file:///')) return fileName(text);
  if (!/^\s*[{[]/.test(text)) return text.replace(DIRECTORY_IN_PROMPT, '');
  const value = parseJson<TapeJson>(text);
  return value === undefined ? text : JSON.stringify(canonicalJson(value));
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function isEmbeddingVector(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length >= MIN_VECTOR_LENGTH &&
    value.every((number) => typeof number === 'number')
  );
}

/** Whether two lists hold embeddings of the same texts. */
export function areSameVectors(a: readonly number[][], b: readonly number[][]): boolean {
  return (
    a.length === b.length && a.every((vector, index) => cosine(vector, b[index] ?? []) >= SAME_VECTOR_COSINE)
  );
}

function cosine(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return 0;
  const [squareA, squareB] = [dotProduct(a, a), dotProduct(b, b)];
  return squareA === 0 && squareB === 0 ? 1 : dotProduct(a, b) / Math.sqrt(squareA * squareB);
}
