import { createHash } from 'node:crypto';
import { estimateTokens } from '../../domain/estimate-tokens.ts';
import { MAPPED_FIELDS, type MappedField, type PayloadMap } from '../../domain/payload-map.ts';
import type { StoredChunk } from '../../ports/chunk-store.ts';

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
      const text = textOf(read(payload, 'text')) ?? '';
      const url = textOf(read(payload, 'url')) ?? `qdrant:${id}`;
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
  if (typeof value === 'string') return value === '' ? null : value;
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
