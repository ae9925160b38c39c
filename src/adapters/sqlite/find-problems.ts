import type { DatabaseSync } from 'node:sqlite';
import { view } from './database.ts';
import { paddedDimensions } from './quantize.ts';
import { readSegments, type Segment, type SegmentTable } from './segments.ts';
import { TERM_SEGMENTS } from './term-segments.ts';
import { VECTOR_SEGMENTS } from './vector-segments.ts';

/** What is wrong with a collection: with the file itself, or between its tables. */
export function findProblems(database: DatabaseSync, dimensions: number): string[] {
  const count = (sql: string) => Number(database.prepare(`SELECT count(*) AS n FROM ${sql}`).get()?.n);
  const found: [number, string][] = [
    [count('chunk LEFT JOIN document ON document.id = document_id WHERE uri IS NULL'), 'without a document'],
    [
      count(
        `chunk LEFT JOIN vector ON vector.id = chunk.id
         WHERE v IS NULL AND chunk.id NOT IN (SELECT id FROM unembedded)`,
      ),
      'without a vector',
    ],
    [count('unembedded JOIN vector ON vector.id = unembedded.id'), 'embedded but said not to be'],
    [count('vector LEFT JOIN chunk ON chunk.id = vector.id WHERE chunk.id IS NULL'), 'gone but for a vector'],
  ];
  return [
    ...database
      .prepare('PRAGMA integrity_check(5)')
      .all()
      .map((row) => String(row.integrity_check))
      .filter((line) => line !== 'ok')
      .map((line) => `${line}.`),
    ...found.filter(([chunks]) => chunks > 0).map(([chunks, what]) => `${chunks} chunks are ${what}.`),
    ...segmentProblems(database, VECTOR_SEGMENTS, EMBEDDED, 'vectors', holdsItsVectors(database, dimensions)),
    ...segmentProblems(database, TERM_SEGMENTS, ALL, 'words', holdsItsWords(database)),
  ];
}

const ALL = 'SELECT id FROM chunk';
const EMBEDDED = 'SELECT id FROM chunk EXCEPT SELECT id FROM unembedded';

/** What is packed must be of the chunks that are selected, each once. */
function segmentProblems(
  database: DatabaseSync,
  table: SegmentTable,
  selected: string,
  what: string,
  holds: (segment: Segment) => boolean,
): string[] {
  const problems: string[] = [];
  const chunks = database.prepare(selected).all();
  const missing = new Set(chunks.map((row) => Number(row.id)));
  let strange = 0;
  for (const segment of readSegments(database, table)) {
    const { id, size, dead, ids, values } = segment;
    const live = ids.filter((_, index) => !Number.isNaN(values[index]));
    if (ids.length !== size || live.length !== size - dead || !holds(segment)) {
      problems.push(`Segment ${id} of the ${what} is not what it says it is.`);
    }
    for (const chunkId of live) if (!missing.delete(chunkId)) strange += 1;
  }
  if (missing.size > 0) problems.push(`${missing.size} chunks are in no segment of the ${what}.`);
  if (strange > 0) problems.push(`${strange} chunks in segments of the ${what} are gone, or there twice.`);
  return problems;
}

function holdsItsVectors(database: DatabaseSync, dimensions: number): (segment: Segment) => boolean {
  const sizeOf = database.prepare('SELECT length(q) AS bytes FROM segment WHERE id = ?');
  return ({ id, size }) => Number(sizeOf.get(id)?.bytes ?? 0) === size * paddedDimensions(dimensions);
}

/** As many terms of each chunk as it is long. */
function holdsItsWords(database: DatabaseSync): (segment: Segment) => boolean {
  const postings = database.prepare('SELECT data FROM posting WHERE segment = ?');
  return ({ id, values }) => {
    const counted = new Float64Array(values.length);
    for (const { data } of postings.iterate(id)) {
      const pairs = view(Uint16Array, data);
      for (let at = 0; at < pairs.length; at += 2) {
        const place = pairs[at] as number;
        counted[place] = (counted[place] ?? Number.NaN) + (pairs[at + 1] as number);
      }
    }
    return values.every((length, place) => Number.isNaN(length) || length === counted[place]);
  };
}
