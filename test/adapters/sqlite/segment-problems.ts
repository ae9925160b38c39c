import { DatabaseSync } from 'node:sqlite';
import {
  type ChunkSegment,
  readSegments,
  type SegmentTable,
} from '../../../src/adapters/sqlite/chunk-segments.ts';
import { toTypedArray } from '../../../src/adapters/sqlite/database.ts';
import { TEXT_SEGMENTS } from '../../../src/adapters/sqlite/text-segments.ts';
import { paddedDimensions, VECTOR_SEGMENTS } from '../../../src/adapters/sqlite/vector-segments.ts';

const ALL = 'SELECT id FROM chunk';
const EMBEDDED = 'SELECT id FROM chunk EXCEPT SELECT id FROM unembedded';

/** Compares the segments of a collection file with its chunks. */
export function findSegmentProblems(path: string, dimensions: number): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return [
      ...checkSegments(database, VECTOR_SEGMENTS, EMBEDDED, hasAllVectors(database, dimensions)),
      ...checkSegments(database, TEXT_SEGMENTS, ALL, hasAllPostings(database)),
    ];
  } finally {
    database.close();
  }
}

/** Each expected chunk must be in exactly one segment. */
function checkSegments(
  database: DatabaseSync,
  table: SegmentTable,
  expected: string,
  isComplete: (segment: ChunkSegment) => boolean,
): string[] {
  const problems: string[] = [];
  const kind = table === VECTOR_SEGMENTS ? 'vector' : 'text';
  const missing = new Set(
    database
      .prepare(expected)
      .all()
      .map((row) => Number(row.id)),
  );
  let unexpected = 0;
  for (const segment of readSegments(database, table)) {
    const { id, size, dead, ids, values } = segment;
    const live = ids.filter((_, index) => !Number.isNaN(values[index]));
    if (ids.length !== size || live.length !== size - dead || !isComplete(segment)) {
      problems.push(`The ${kind} segment ${id} is inconsistent.`);
    }
    for (const chunkId of live) if (!missing.delete(chunkId)) unexpected += 1;
  }
  if (missing.size > 0) problems.push(`${missing.size} chunks are in no ${kind} segment.`);
  if (unexpected > 0)
    problems.push(`${unexpected} chunks in ${kind} segments were removed or are duplicates.`);
  return problems;
}

function hasAllVectors(database: DatabaseSync, dimensions: number): (segment: ChunkSegment) => boolean {
  const sizeOf = database.prepare('SELECT length(q) AS bytes FROM segment WHERE id = ?');
  return ({ id, size }) => Number(sizeOf.get(id)?.bytes ?? 0) === size * paddedDimensions(dimensions);
}

/** The counts in the postings of a chunk must add up to its length. */
function hasAllPostings(database: DatabaseSync): (segment: ChunkSegment) => boolean {
  const postings = database.prepare('SELECT data FROM posting WHERE segment = ?');
  return ({ id, values }) => {
    const counted = new Float64Array(values.length);
    for (const { data } of postings.iterate(id)) {
      const pairs = toTypedArray(Uint16Array, data);
      for (let at = 0; at < pairs.length; at += 2) {
        const position = pairs[at] as number;
        counted[position] = (counted[position] ?? Number.NaN) + (pairs[at + 1] as number);
      }
    }
    return values.every((length, position) => Number.isNaN(length) || length === counted[position]);
  };
}
