import type { DatabaseSync } from 'node:sqlite';
import { readMeta, writeMeta } from './collection-meta.ts';
import { createFullTextWriter } from './full-text-writer.ts';

/** How many more texts FTS5 may count than there are before its index is made anew. */
const TOLERATED_SHARE = 1.25;

/**
 * How many texts FTS5 takes the collection to have. In a contentless table it counts them when they come but
 * not when they go, so that every replacement makes all terms look rarer and their BM25 larger.
 */
export function countedTexts(database: DatabaseSync): number {
  return lastChunkId(database) - readMeta(database).uncountedTexts;
}

/** Makes the full-text index anew if it counts many texts that are gone. Runs inside the caller's transaction. */
export function recountTexts(database: DatabaseSync, chunks: number): void {
  if (countedTexts(database) <= chunks * TOLERATED_SHARE) return;
  database.exec("INSERT INTO terms (terms) VALUES ('delete-all')");
  const fullText = createFullTextWriter(database);
  const rows = database.prepare(
    'SELECT chunk.id, title, headings, text FROM chunk JOIN document ON document.id = document_id ORDER BY chunk.id',
  );
  for (const { id, title, headings, text } of rows.iterate()) {
    fullText.add(Number(id), String(title), JSON.parse(String(headings)) as string[], String(text));
  }
  writeMeta(database, { uncountedTexts: lastChunkId(database) - chunks });
}

/** Ids are given once, so this is how many chunks there have ever been. */
function lastChunkId(database: DatabaseSync): number {
  return Number(database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'chunk'").get()?.seq ?? 0);
}
