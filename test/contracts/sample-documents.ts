import { createHash } from 'node:crypto';
import type { ChunkRecord, DocumentWrite } from '../../src/ports/chunk-store.ts';

export interface SampleChunk {
  text: string;
  headings?: string[];
  vector?: Float32Array;
}

export interface SampleDocument {
  uri?: string;
  url?: string;
  title?: string;
  module?: string | null;
  chapter?: string | null;
  metadata?: Record<string, string>;
  replaces?: string;
  chunks: (string | SampleChunk)[];
}

/** A document to write, with defaults. Its place and address follow from the name. */
export function sampleDocument(name: string, dimensions: number, sample: SampleDocument): DocumentWrite {
  const url = sample.url ?? `https://book.example/${name}`;
  let start = 0;
  const chunks = sample.chunks.map((given, chunkIndex): ChunkRecord => {
    const { text, headings = [], vector } = typeof given === 'string' ? { text: given } : given;
    const chunk = {
      text,
      start,
      chunkIndex,
      headings,
      tokenCount: text.split(/\s+/).length,
      contentHash: sha256(text),
      chunkId: uuidOf(`${url}#${chunkIndex}`),
      vector: vector ?? vectorOf(text, dimensions),
      words: null,
    };
    start += text.length;
    return chunk;
  });
  return {
    document: {
      uri: sample.uri ?? `file:///book/${name}.md`,
      url,
      root: 'file:///book/',
      title: sample.title ?? name,
      module: sample.module ?? null,
      chapter: sample.chapter ?? null,
      metadata: sample.metadata ?? {},
      contentHash: sha256(JSON.stringify(sample.chunks.map((chunk) => chunk))),
      fingerprint: 'test',
    },
    chunks,
    ...(sample.replaces !== undefined && { replaces: sample.replaces }),
  };
}

/** A pseudorandom unit vector of a seed. */
export function vectorOf(seed: string, dimensions: number): Float32Array {
  let state = Number.parseInt(sha256(seed).slice(0, 8), 16) | 1;
  const values = Float32Array.from({ length: dimensions }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state / 2 ** 31;
  });
  return unit(values);
}

/** Mixes two vectors; `share` is that of the other. */
export function blend(vector: Float32Array, other: Float32Array, share: number): Float32Array {
  return unit(vector.map((value, index) => value * (1 - share) + (other[index] ?? 0) * share));
}

function unit(values: Float32Array): Float32Array {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)) || 1;
  return values.map((value) => value / length);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function uuidOf(text: string): string {
  const hex = sha256(text);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
