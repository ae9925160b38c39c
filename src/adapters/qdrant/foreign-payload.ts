import { createHash } from 'node:crypto';
import type { Schemas } from '@qdrant/js-client-rest';
import { isSourceUrl } from '../../domain/retrieved-chunk.ts';
import { normalizeVector } from '../../domain/unit-vectors.ts';
import { advice, settingName } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { StoredChunk } from '../../ports/chunk-store.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';

/** The fields that are read from points of collections that citeloop did not create. */
const MAPPED_FIELDS = ['text', 'url', 'title', 'module', 'chapter', 'headings', 'chunkIndex'] as const;
export type MappedField = (typeof MAPPED_FIELDS)[number];

/** The payload field for each mapped field, such as `{ text: 'body' }`; a dot leads into an object. */
export type PayloadMap = Partial<Record<MappedField, string | undefined>>;

/** Tried in this order if the payload map does not name the field. */
const COMMON_NAMES: Record<MappedField, readonly string[]> = {
  text: ['text', 'chunk_text', 'content', 'page_content', 'document'],
  url: ['url', 'source_url', 'page_url', 'source', 'metadata.url', 'metadata.source'],
  title: ['title', 'page_title', 'metadata.title'],
  module: ['module', 'module_name', 'metadata.module'],
  chapter: ['chapter', 'chapter_name', 'metadata.chapter'],
  headings: ['headings', 'heading_hierarchy'],
  chunkIndex: ['chunkIndex', 'chunk_index', 'metadata.chunk_index'],
};

const NO_TEXT = '(This point has no text.)';

export type PointPayload = Record<string, unknown>;

/** Finds the payload fields by the map and by sample payloads. */
export function createPayloadReader(map: PayloadMap, samples: readonly PointPayload[]) {
  const names = new Map<string, string>();
  for (const field of MAPPED_FIELDS) {
    const given = map[field];
    const candidates = given === undefined ? COMMON_NAMES[field] : [given];
    const name = candidates.find((candidate) =>
      samples.some((payload) => !['', null, undefined].includes(valueAt(payload, candidate) as string)),
    );
    if (name !== undefined) names.set(field, name);
  }

  return {
    /** The payload field of a mapped field; undefined if none was found. */
    sourceField: (field: string) => names.get(field),

    toChunk({ id, payload }: Pick<Schemas['Record'], 'id' | 'payload'>): StoredChunk {
      const read = (field: MappedField): unknown => {
        const name = names.get(field);
        return name === undefined ? undefined : valueAt((payload ?? {}) as PointPayload, name);
      };
      const text = toText(read('text')) ?? NO_TEXT;
      const given = toText(read('url'));
      const url = given !== null && isSourceUrl(given) ? given : `qdrant:${id}`;
      const index = Number(read('chunkIndex') ?? 0);
      return {
        chunkId: String(id),
        text,
        url,
        title: toText(read('title')) ?? url,
        module: toText(read('module')),
        chapter: toText(read('chapter')),
        headings: toHeadings(read('headings')),
        chunkIndex: Number.isInteger(index) && index >= 0 ? index : 0,
        tokenCount: estimateTokens(text),
        contentHash: createHash('sha256').update(text).digest('hex'),
      };
    },
  };
}

function valueAt(payload: PointPayload, path: string): unknown {
  if (Object.hasOwn(payload, path)) return payload[path];
  return path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return (value as PointPayload)[key];
  }, payload);
}

function toText(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return typeof value === 'number' ? String(value) : null;
}

/** Reads a list, or one line such as `Guide > Install`. */
function toHeadings(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((heading) => typeof heading === 'string' && heading !== '');
  if (typeof value !== 'string') return [];
  return value
    .split(/\s+[>›/|]\s+/)
    .map((heading) => heading.trim())
    .filter((heading) => heading !== '');
}

interface ForeignVector {
  /** Null for the unnamed vector. */
  name: string | null;
  size: number;
  distance: string;
}

/** The vector to search by: the unnamed one, or the first. Throws `configuration_error` if there is none. */
export function findDenseVector(name: string, info: Schemas['CollectionInfo']): ForeignVector {
  const vectors = (info.config.params.vectors ?? {}) as Record<string, unknown>;
  const [vectorName, config] =
    typeof vectors.size === 'number' ? [null, vectors] : (Object.entries(vectors)[0] ?? []);
  if (vectorName === undefined) {
    throw new AppError('configuration_error', `Collection "${name}" has no dense vectors.`, {
      hint: advice`Choose another ${settingName('collection')}.`,
    });
  }
  const { size, distance } = config as { size: number; distance: string };
  return { name: vectorName, size, distance };
}

/** The server's score as a similarity: higher is nearer. */
export function distanceToSimilarity(score: number, { distance }: ForeignVector): number {
  return distance === 'Euclid' || distance === 'Manhattan' ? 1 / (1 + score) : score;
}

/** Scaled to unit length, like the vectors of our embedders. */
export function toUnitVector(stored: unknown, { name }: ForeignVector): Float32Array {
  const values = (name === null ? stored : (stored as Record<string, unknown> | null)?.[name]) ?? [];
  return normalizeVector(Float32Array.from(values as number[]));
}
