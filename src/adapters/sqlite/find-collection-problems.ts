import type { DatabaseSync } from 'node:sqlite';

/** What is wrong with a collection file, one sentence each: damaged pages, or tables that contradict each other. */
export function findCollectionProblems(database: DatabaseSync): string[] {
  const count = (sql: string) => Number(database.prepare(`SELECT count(*) AS n FROM ${sql}`).get()?.n);
  const problems: [number, string][] = [
    [count('chunk WHERE document_id NOT IN (SELECT id FROM document)'), 'chunks have no document'],
    [
      count('chunk WHERE id NOT IN (SELECT id FROM vector UNION ALL SELECT id FROM unembedded)'),
      'chunks have no vector',
    ],
    [
      count('unembedded JOIN vector ON vector.id = unembedded.id'),
      'chunks have a vector but are marked as not embedded',
    ],
    [count('vector WHERE id NOT IN (SELECT id FROM chunk)'), 'vectors belong to no chunk'],
  ];
  return [
    ...findDamagedPages(database),
    ...problems.filter(([rows]) => rows > 0).map(([rows, problem]) => `${rows} ${problem}.`),
  ];
}

/** SQLite's own integrity check. */
export function findDamagedPages(database: DatabaseSync): string[] {
  return database
    .prepare('PRAGMA integrity_check(5)')
    .all()
    .map((row) => String(row.integrity_check))
    .filter((line) => line !== 'ok')
    .map((line) => `${line}.`);
}
