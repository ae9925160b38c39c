import { createHash } from 'node:crypto';
import type { Schemas } from '@qdrant/js-client-rest';
import { isAddress } from '../../domain/retrieved-chunk.ts';
import { advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { StoredChunk } from '../../ports/chunk-store.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';

/** What is read of a point that others have put into a collection. */
export const MAPPED_FIELDS = ['text', 'url', 'title', 'module', 'chapter', 'headings', 'chunkIndex'] as const;
export type MappedField = (typeof MAPPED_FIELDS)[number];

/** The payload field that holds each of ours, such as `{ text: 'body' }`; a dot leads into an object. */
export type PayloadMap = Partial<Record<MappedField, string | undefined>>;

/** The names seen most, tried in this order after the one that was given. */
const USUAL_NAMES: Record<MappedField, readonly string[]> = {
  text: ['text', 'chunk_text', 'content', 'page_content', 'document'],
  url: ['url', 'source_url', 'page_url', 'source', 'metadata.url', 'metadata.source'],
  title: ['title', 'page_title', 'metadata.title'],
  module: ['module', 'module_name', 'metadata.module'],
  chapter: ['chapter', 'chapter_name', 'metadata.chapter'],
  headings: ['headings', 'heading_hierarchy'],
  chunkIndex: ['chunkIndex', 'chunk_index', 'metadata.chunk_index'],
};

export type Payload = Record<string, unknown>;

export interface PayloadReader {
  toChunk(id: string | number, payload: Payload): StoredChunk;
  /** The name of the field in these payloads; undefined if none of the names is there. */
  nameOf(field: MappedField): string | undefined;
}

/** Reads payloads of others, as far as they can be mapped; `samples` decide which of the usual names it is. */
export function createPayloadReader(map: PayloadMap, samples: readonly Payload[]): PayloadReader {
  const names = new Map<MappedField, string>();
  for (const field of MAPPED_FIELDS) {
    const given = map[field];
    const candidates = given === undefined ? USUAL_NAMES[field] : [given];
    const name = candidates.find((candidate) =>
      samples.some((payload) => hasValue(valueAt(payload, candidate))),
    );
    if (name !== undefined) names.set(field, name);
  }
  const read = (payload: Payload, field: MappedField): unknown => {
    const name = names.get(field);
    return name === undefined ? undefined : valueAt(payload, name);
  };

  return {
    nameOf: (field) => names.get(field),

    toChunk(id, payload) {
      const text = textOf(read(payload, 'text')) ?? NO_TEXT;
      const given = textOf(read(payload, 'url'));
      const url = given !== null && isAddress(given) ? given : `qdrant:${id}`;
      const index = Number(read(payload, 'chunkIndex') ?? 0);
      return {
        chunkId: String(id),
        text,
        url,
        title: textOf(read(payload, 'title')) ?? url,
        module: textOf(read(payload, 'module')),
        chapter: textOf(read(payload, 'chapter')),
        headings: headingsOf(read(payload, 'headings')),
        chunkIndex: Number.isInteger(index) && index >= 0 ? index : 0,
        tokenCount: estimateTokens(text),
        contentHash: createHash('sha256').update(text).digest('hex'),
      };
    },
  };
}

/** Not every point of others says something. */
const NO_TEXT = '(This point has no text.)';

function valueAt(payload: Payload, path: string): unknown {
  if (Object.hasOwn(payload, path)) return payload[path];
  return path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return (value as Payload)[key];
  }, payload);
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return typeof value === 'number' ? String(value) : null;
}

/** A list, or one line such as `Guide > Install`. */
function headingsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((heading) => typeof heading === 'string' && heading !== '');
  if (typeof value !== 'string' || value === '') return [];
  return value
    .split(/\s+[>›/|]\s+/)
    .map((heading) => heading.trim())
    .filter((heading) => heading !== '');
}

interface ForeignVector {
  /** Null where the collection has one vector without a name. */
  name: string | null;
  size: number;
  distance: string;
}

/** The vector of a collection that others have made: the one without a name, or the first. */
export function foreignVector(name: string, info: Schemas['CollectionInfo']): ForeignVector {
  const vectors = (info.config.params.vectors ?? {}) as Record<string, unknown>;
  if (typeof vectors.size === 'number') return vectorOf(null, vectors);
  const [first] = Object.entries(vectors);
  if (first === undefined) {
    throw new AppError('configuration_error', `Collection "${name}" has no dense vectors to search by.`, {
      hint: advice`Choose another ${setting('collection')}.`,
    });
  }
  return vectorOf(first[0], first[1]);
}

function vectorOf(name: string | null, config: unknown): ForeignVector {
  const { size, distance } = config as { size: number; distance: string };
  return { name, size, distance };
}

/** What the server scores by, as a similarity where higher is nearer. */
export function toSimilarity(score: number, { distance }: ForeignVector): number {
  return distance === 'Euclid' || distance === 'Manhattan' ? 1 / (1 + score) : score;
}

/** A point's vector at unit length, as all of ours are. */
export function unitVector(held: unknown, { name }: ForeignVector): Float32Array {
  const values = (name === null ? held : (held as Record<string, unknown> | null)?.[name]) ?? [];
  const vector = Float32Array.from(values as number[]);
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
