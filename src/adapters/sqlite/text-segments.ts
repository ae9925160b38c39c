import type { DatabaseSync } from 'node:sqlite';
import { indexTerms } from '../../text/terms.ts';
import {
  type ChunkSegment,
  createSegmentInsert,
  readSparseSegments,
  SEGMENT_SIZE,
  type SegmentTable,
} from './chunk-segments.ts';
import { toBytes, toTypedArray } from './database.ts';
import { createCheckedInsert } from './row-checksums.ts';

/** The table `posting` has pairs for each term: the chunk's position in the segment, and how often it has the term. */
export const TEXT_SEGMENTS: SegmentTable = { name: 'text_segment', values: 'lengths' };

/** What two bytes can hold; higher counts hardly change a score. */
const MAX_COUNT = 0xffff;
const REMOVED = -1;

type Postings = Map<string, number[]>;

/** Indexes the words of chunks, which must be added in ascending order of their ids. */
export function createTextSegmentWriter(database: DatabaseSync) {
  const insert = createInsert(database);
  let ids: number[] = [];
  let lengths: number[] = [];
  let postings: Postings = new Map();

  function flush(): void {
    if (ids.length > 0) insert(ids, lengths, postings);
    ids = [];
    lengths = [];
    postings = new Map();
  }

  return {
    /** Title and headings count as much as the text. */
    add(chunkId: number, title: string, headings: readonly string[], text: string): void {
      const terms = [...indexTerms([title, ...headings].join('\n')), ...indexTerms(text)];
      const counts = new Map<string, number>();
      for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
      for (const [term, count] of counts) addPair(postings, term, ids.length, Math.min(count, MAX_COUNT));
      ids.push(chunkId);
      lengths.push(terms.length);
      if (ids.length === SEGMENT_SIZE) flush();
    },
    flush,
  };
}

/** Merges small and sparse segments into full ones. Runs inside the caller's transaction. */
export function compactTextSegments(database: DatabaseSync): void {
  let group: ChunkSegment[] = [];
  let live = 0;
  for (const segment of readSparseSegments(database, TEXT_SEGMENTS)) {
    const size = segment.size - segment.dead;
    if (live + size > SEGMENT_SIZE) {
      mergeSegments(database, group);
      group = [];
      live = 0;
    }
    group.push(segment);
    live += size;
  }
  mergeSegments(database, group);
}

function mergeSegments(database: DatabaseSync, segments: readonly ChunkSegment[]): void {
  const chunks = segments
    .flatMap(({ ids, values }) => Array.from(ids, (id, index) => ({ id, length: values[index] as number })))
    .filter(({ length }) => !Number.isNaN(length))
    .sort((a, b) => a.id - b.id);
  const positions = new Map(chunks.map(({ id }, position) => [id, position]));
  const postings: Postings = new Map();
  const read = database.prepare('SELECT term, data FROM posting WHERE segment = ?');
  const dropPostings = database.prepare('DELETE FROM posting WHERE segment = ?');
  const dropSegment = database.prepare('DELETE FROM text_segment WHERE id = ?');
  for (const { id, ids } of segments) {
    const newPositions = Int32Array.from(ids, (chunkId) => positions.get(chunkId) ?? REMOVED);
    for (const { term, data } of read.all(id)) {
      const pairs = toTypedArray(Uint16Array, data);
      for (let at = 0; at < pairs.length; at += 2) {
        const position = newPositions[pairs[at] ?? 0] ?? REMOVED;
        if (position !== REMOVED) addPair(postings, String(term), position, pairs[at + 1] ?? 0);
      }
    }
    dropPostings.run(id);
    dropSegment.run(id);
  }
  if (chunks.length === 0) return;
  const [ids, lengths] = [chunks.map(({ id }) => id), chunks.map(({ length }) => length)];
  createInsert(database)(ids, lengths, postings);
}

function addPair(postings: Postings, term: string, position: number, count: number): void {
  const pairs = postings.get(term);
  if (pairs === undefined) postings.set(term, [position, count]);
  else pairs.push(position, count);
}

function createInsert(database: DatabaseSync) {
  const insertSegment = createSegmentInsert(database, TEXT_SEGMENTS);
  const insertPosting = createCheckedInsert(database, 'posting', ['segment']);
  return (ids: readonly number[], lengths: readonly number[], postings: Postings) => {
    const segment = insertSegment(Uint32Array.from(ids), Float32Array.from(lengths));
    // In key order, so that rows are appended.
    for (const [term, pairs] of [...postings].sort(([a], [b]) => (a < b ? -1 : 1))) {
      insertPosting({ segment, term, data: toBytes(new Uint16Array(pairs)) });
    }
  };
}
