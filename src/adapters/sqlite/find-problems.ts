import type { DatabaseSync } from 'node:sqlite';
import { paddedDimensions } from './quantize.ts';
import { hasUnembeddedTable } from './schema.ts';
import { readSegment } from './vector-segments.ts';

/** What is wrong with a collection: with the file itself, or between its tables. */
export function findProblems(database: DatabaseSync, dimensions: number): string[] {
  const count = (sql: string) => Number(database.prepare(`SELECT count(*) AS n FROM ${sql}`).get()?.n);
  // Chunks that are to be embedded yet are no problem, and there are none in files of earlier versions.
  const waiting = hasUnembeddedTable(database) ? 'unembedded' : '(SELECT NULL AS id WHERE 0)';
  const found: [number, string][] = [
    [count('chunk LEFT JOIN document ON document.id = document_id WHERE uri IS NULL'), 'without a document'],
    [
      count(
        `chunk LEFT JOIN vector ON vector.id = chunk.id
         WHERE v IS NULL AND chunk.id NOT IN (SELECT id FROM ${waiting})`,
      ),
      'without a vector',
    ],
    [count(`${waiting} AS waiting JOIN vector ON vector.id = waiting.id`), 'embedded but said not to be'],
    [count('chunk LEFT JOIN terms_docsize ON terms_docsize.id = chunk.id WHERE sz IS NULL'), 'without terms'],
    [count('vector LEFT JOIN chunk ON chunk.id = vector.id WHERE chunk.id IS NULL'), 'gone but for a vector'],
    [
      count('terms_docsize LEFT JOIN chunk ON chunk.id = terms_docsize.id WHERE chunk.id IS NULL'),
      'gone but for terms',
    ],
  ];
  // FTS5 checks what it last read, which another process may have changed since; a query makes it read anew.
  database.prepare('SELECT rowid FROM terms WHERE terms MATCH ? LIMIT 1').get('"a"');
  return [
    ...database
      .prepare('PRAGMA integrity_check(5)')
      .all()
      .map((row) => String(row.integrity_check))
      .filter((line) => line !== 'ok')
      .map((line) => `${line}.`),
    ...found.filter(([chunks]) => chunks > 0).map(([chunks, what]) => `${chunks} chunks are ${what}.`),
    ...segmentProblems(database, dimensions, waiting),
  ];
}

/** The packed vectors must be those of the chunks that are embedded, each once. */
function segmentProblems(database: DatabaseSync, dimensions: number, waiting: string): string[] {
  const problems: string[] = [];
  const missing = new Set(
    database
      .prepare(`SELECT id FROM chunk WHERE id NOT IN (SELECT id FROM ${waiting})`)
      .all()
      .map((row) => Number(row.id)),
  );
  let strange = 0;
  const sizeOf = database.prepare('SELECT length(q) AS bytes FROM segment WHERE id = ?');
  for (const row of database.prepare('SELECT id, size, dead, ids, scales FROM segment_meta').iterate()) {
    const { id, size, dead, ids, scales } = readSegment(row);
    const live = ids.filter((_, index) => !Number.isNaN(scales[index]));
    const bytes = Number(sizeOf.get(id)?.bytes ?? 0);
    if (ids.length !== size || live.length !== size - dead || bytes !== size * paddedDimensions(dimensions)) {
      problems.push(`Segment ${id} of the vectors is not what it says it is.`);
    }
    for (const chunkId of live) if (!missing.delete(chunkId)) strange += 1;
  }
  if (missing.size > 0) problems.push(`${missing.size} chunks are in no segment of the vectors.`);
  if (strange > 0) problems.push(`${strange} vectors in segments belong to no chunk, or are there twice.`);
  return problems;
}
