import type { DatabaseSync } from 'node:sqlite';
import {
  COMMON_SHARE,
  LARGE_COLLECTION,
  lexicalScore,
  MOST_TERMS,
  type ScoredId,
  termWorth,
} from '../../domain/rank-hits.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import { readMeta, writeMeta } from './schema.ts';

const HEADING_WEIGHT = 1;
const BODY_WEIGHT = 1;
/** How many more texts FTS5 may count than there are before its index is made anew. */
const TOLERATED_SHARE = 1.25;
/** Going through all terms takes a while; it is not worth it before the collection has changed this much in size. */
const CHANGED_SHARE = 0.1;

/** A condition on chunk ids, as SQL with its parameters; null lets all pass. */
export interface SqlCondition {
  sql: string;
  parameters: string[];
}

/** The best chunks by BM25. The score is the share of what the query's terms are worth, in 0..1. */
export function searchFullText(
  database: DatabaseSync,
  query: string,
  limit: number,
  condition: SqlCondition | null,
): ScoredId<number>[] {
  const { terms, worth } = planSearch(database, query);
  if (terms.length === 0) return [];
  // The plus sign keeps SQLite from looking up every allowed row in the index instead of the other way round.
  const where = condition === null ? '' : `AND +rowid IN (${condition.sql})`;
  return database
    .prepare(
      `SELECT rowid AS id, -bm25(terms, ${HEADING_WEIGHT}, ${BODY_WEIGHT}) AS score
       FROM terms WHERE terms MATCH ? ${where} ORDER BY score DESC, id LIMIT ?`,
    )
    .all(terms.map((term) => `"${term}"`).join(' OR '), ...(condition?.parameters ?? []), limit)
    .map((row) => ({ id: Number(row.id), score: lexicalScore(Number(row.score) / worth) }));
}

/** The terms to look for, and what a chunk of ordinary length that has each of them once would score. */
function planSearch(database: DatabaseSync, query: string): { terms: string[]; worth: number } {
  const terms = queryTerms(query);
  if (terms.length === 0) return { terms: [], worth: 0 };
  const common = new Set(selectTerms(database, 'common_term', terms).map((row) => String(row.term)));
  const telling = terms.filter((term) => !common.has(term));
  const chosen = telling.length > 0 ? telling : terms;
  const containing = new Map(
    selectTerms(database, 'vocabulary', chosen).map((row) => [String(row.term), Number(row.doc)]),
  );
  const total = countedTexts(database);
  const weighed = chosen.map((term) => ({ term, worth: termWorth(total, containing.get(term) ?? 0) }));
  return {
    terms: weighed
      .filter(({ term }) => containing.has(term))
      .sort((a, b) => b.worth - a.worth)
      .slice(0, MOST_TERMS)
      .map(({ term }) => term),
    worth: weighed.reduce((sum, { worth }) => sum + worth, 0),
  };
}

function selectTerms(database: DatabaseSync, table: 'common_term' | 'vocabulary', terms: readonly string[]) {
  return database
    .prepare(`SELECT * FROM ${table} WHERE term IN (SELECT value FROM json_each(?))`)
    .all(JSON.stringify(terms));
}

interface FullTextWriter {
  /** Title and headings count as much as the text below them. */
  add(chunkId: number, title: string, headings: readonly string[], text: string): void;
  remove(chunkId: number): void;
}

export function createFullTextWriter(database: DatabaseSync): FullTextWriter {
  const insert = database.prepare('INSERT INTO terms (rowid, heading, body) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM terms WHERE rowid = ?');
  return {
    add(chunkId, title, headings, text) {
      const heading = [title, ...headings].join('\n');
      insert.run(chunkId, indexTerms(heading).join(' '), indexTerms(text).join(' '));
    },
    remove(chunkId) {
      remove.run(chunkId);
    },
  };
}

/**
 * How many texts FTS5 takes the collection to have. In a contentless table it counts them when they come but
 * not when they go, so that every replacement makes all terms look rarer and their BM25 larger.
 */
function countedTexts(database: DatabaseSync): number {
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

/** Finds out which terms are too common to search for, if that may have changed. Runs inside the caller's transaction. */
export function refreshCommonTerms(database: DatabaseSync, chunks: number): void {
  const { commonTermsOf } = readMeta(database);
  if (Math.max(chunks, commonTermsOf) < LARGE_COLLECTION) return;
  if (Math.abs(chunks - commonTermsOf) < chunks * CHANGED_SHARE) return;
  database.exec('DELETE FROM common_term');
  if (chunks >= LARGE_COLLECTION) {
    database
      .prepare('INSERT INTO common_term (term) SELECT term FROM vocabulary WHERE doc > ?')
      .run(chunks * COMMON_SHARE);
  }
  writeMeta(database, { commonTermsOf: chunks });
}
