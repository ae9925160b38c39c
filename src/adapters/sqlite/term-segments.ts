import type { DatabaseSync } from 'node:sqlite';
import { indexTerms } from '../../text/terms.ts';
import { bytesOf, view } from './database.ts';
import {
  createSegmentInsert,
  SEGMENT_SIZE,
  type Segment,
  type SegmentTable,
  wornSegments,
} from './segments.ts';

/** The postings of each are in `posting`: for every term pairs of a chunk's place in the segment and how often it has it. */
export const TERM_SEGMENTS: SegmentTable = { name: 'text_segment', values: 'lengths' };

/** What a pair has room for; nothing scores differently beyond it. */
const MOST_COUNTED = 0xffff;
const GONE = -1;

interface TermWriter {
  /** Title and headings count as much as the text below them. */
  add(chunkId: number, title: string, headings: readonly string[], text: string): void;
  flush(): void;
}

/** Indexes the words of chunks, which must come in the order of their ids. */
export function createTermWriter(database: DatabaseSync): TermWriter {
  const insert = createInsert(database);
  let ids: number[] = [];
  let lengths: number[] = [];
  let postings = new Map<string, number[]>();

  function flush(): void {
    if (ids.length > 0) insert(Uint32Array.from(ids), Float32Array.from(lengths), postings);
    ids = [];
    lengths = [];
    postings = new Map();
  }

  return {
    add(chunkId, title, headings, text) {
      const terms = [...indexTerms([title, ...headings].join('\n')), ...indexTerms(text)];
      const counts = new Map<string, number>();
      for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
      for (const [term, count] of counts) addPair(postings, term, ids.length, Math.min(count, MOST_COUNTED));
      ids.push(chunkId);
      lengths.push(terms.length);
      if (ids.length === SEGMENT_SIZE) flush();
    },
    flush,
  };
}

/** Merges small and half-dead segments into full ones. Runs inside the caller's transaction. */
export function compactTerms(database: DatabaseSync): void {
  let together: Segment[] = [];
  let live = 0;
  for (const segment of wornSegments(database, TERM_SEGMENTS)) {
    const size = segment.size - segment.dead;
    if (live + size > SEGMENT_SIZE) {
      merge(database, together);
      together = [];
      live = 0;
    }
    together.push(segment);
    live += size;
  }
  merge(database, together);
}

function merge(database: DatabaseSync, segments: readonly Segment[]): void {
  const chunks = segments.flatMap(({ ids, values }) =>
    Array.from(ids, (id, index) => ({ id, length: values[index] ?? Number.NaN })).filter(
      ({ length }) => !Number.isNaN(length),
    ),
  );
  chunks.sort((a, b) => a.id - b.id);
  const places = new Map(chunks.map(({ id }, place) => [id, place]));
  const postings = new Map<string, number[]>();
  const read = database.prepare('SELECT term, data FROM posting WHERE segment = ?');
  const dropPostings = database.prepare('DELETE FROM posting WHERE segment = ?');
  const dropSegment = database.prepare('DELETE FROM text_segment WHERE id = ?');
  for (const { id, ids } of segments) {
    const moved = Int32Array.from(ids, (chunkId) => places.get(chunkId) ?? GONE);
    for (const { term, data } of read.all(id)) {
      const pairs = view(Uint16Array, data);
      for (let at = 0; at < pairs.length; at += 2) {
        const place = moved[pairs[at] ?? 0] ?? GONE;
        if (place !== GONE) addPair(postings, String(term), place, pairs[at + 1] ?? 0);
      }
    }
    dropPostings.run(id);
    dropSegment.run(id);
  }
  if (chunks.length === 0) return;
  const lengths = Float32Array.from(chunks, ({ length }) => length);
  createInsert(database)(
    Uint32Array.from(chunks, ({ id }) => id),
    lengths,
    postings,
  );
}

function addPair(postings: Map<string, number[]>, term: string, place: number, count: number): void {
  const pairs = postings.get(term);
  if (pairs === undefined) postings.set(term, [place, count]);
  else pairs.push(place, count);
}

function createInsert(database: DatabaseSync) {
  const insertSegment = createSegmentInsert(database, TERM_SEGMENTS);
  const insertPosting = database.prepare('INSERT INTO posting (segment, term, data) VALUES (?, ?, ?)');
  return (ids: Uint32Array, lengths: Float32Array, postings: ReadonlyMap<string, readonly number[]>) => {
    const segment = insertSegment(ids, lengths);
    // In the order of the table, which then grows at its end.
    for (const [term, pairs] of [...postings].sort(([a], [b]) => (a < b ? -1 : 1))) {
      insertPosting.run(segment, term, bytesOf(new Uint16Array(pairs)));
    }
  };
}
