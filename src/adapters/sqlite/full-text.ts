import type { DatabaseSync } from 'node:sqlite';
import { lexicalScore } from '../../domain/fusion.ts';
import { queryTerms } from '../../lexical/terms.ts';
import type { ScoredId } from './best-few.ts';
import { countedTexts } from './counted-texts.ts';

const HEADING_WEIGHT = 1;
const BODY_WEIGHT = 1;
/** More terms than a question has; of a whole page pasted as one, the most telling are searched for. */
const MOST_TERMS = 128;
/** What FTS5 takes a term to be worth at least, however common it is. */
const LEAST_WORTH = 1e-6;

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
): ScoredId[] {
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
  const asked = queryTerms(query);
  if (asked.length === 0) return { terms: [], worth: 0 };
  const common = new Set(selectTerms(database, 'common_term', asked).map((row) => String(row.term)));
  const telling = asked.filter((term) => !common.has(term));
  const chosen = telling.length > 0 ? telling : asked;
  const containing = new Map(
    selectTerms(database, 'vocabulary', chosen).map((row) => [String(row.term), Number(row.doc)]),
  );
  const total = countedTexts(database);
  const weighed = chosen.map((term) => ({ term, worth: worthOf(total, containing.get(term) ?? 0) }));
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

/** The weight of a term in BM25 as FTS5 has it: the rarer, the more. */
function worthOf(total: number, containing: number): number {
  return Math.max(LEAST_WORTH, Math.log((total - containing + 0.5) / (containing + 0.5)));
}
