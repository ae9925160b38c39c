import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { indexTerms, queryTerms } from '../../lexical/terms.ts';
import type { ScoredId } from './vector-index.ts';

const HEADING_WEIGHT = 1;
const BODY_WEIGHT = 1;
/** From this size on, terms in more than a tenth of the chunks are left out of queries: they cost most and decide least. */
const LARGE_COLLECTION = 20_000;
const COMMON_SHARE = 0.1;

/** A condition on chunk ids, as SQL with its parameters; null lets all pass. */
export interface SqlCondition {
  sql: string;
  parameters: SQLInputValue[];
}

export interface FullText {
  add(chunkId: number, heading: string, body: string): void;
  remove(chunkId: number): void;
  /** The best chunks by BM25. The score is the share of what the query's terms are worth, in 0..1. */
  search(query: string, limit: number, condition: SqlCondition | null): ScoredId[];
  /** Finds out anew which terms are too common to search for. */
  refreshCommonTerms(): void;
}

export function createFullText(database: DatabaseSync): FullText {
  const insert = database.prepare('INSERT INTO terms (rowid, heading, body) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM terms WHERE rowid = ?');

  function chunkCount(): number {
    return Number(database.prepare('SELECT count(*) AS n FROM chunk').get()?.n);
  }

  /** The terms to look for, and what a chunk of ordinary length that has each of them once would score. */
  function plan(query: string): { terms: string[]; worth: number } {
    const terms = queryTerms(query);
    if (terms.length === 0) return { terms, worth: 0 };
    const placeholders = terms.map(() => '?').join();
    const common = new Set(
      database
        .prepare(`SELECT term FROM common_term WHERE term IN (${placeholders})`)
        .all(...terms)
        .map((row) => String(row.term)),
    );
    const telling = terms.filter((term) => !common.has(term));
    const chosen = telling.length > 0 ? telling : terms;
    const frequency = new Map(
      database
        .prepare(`SELECT term, doc FROM vocabulary WHERE term IN (${chosen.map(() => '?').join()})`)
        .all(...chosen)
        .map((row) => [String(row.term), Number(row.doc)]),
    );
    const total = chunkCount();
    const worth = chosen.reduce((sum, term) => sum + inverseFrequency(total, frequency.get(term) ?? 0), 0);
    return { terms: chosen.filter((term) => frequency.has(term)), worth };
  }

  return {
    add(chunkId, heading, body) {
      insert.run(chunkId, indexTerms(heading).join(' '), indexTerms(body).join(' '));
    },
    remove(chunkId) {
      remove.run(chunkId);
    },
    search(query, limit, condition) {
      const { terms, worth } = plan(query);
      if (terms.length === 0) return [];
      // The plus sign keeps SQLite from looking up every allowed row in the index instead of the other way round.
      const where = condition === null ? '' : `AND +rowid IN (${condition.sql})`;
      return database
        .prepare(
          `SELECT rowid AS id, -bm25(terms, ${HEADING_WEIGHT}, ${BODY_WEIGHT}) AS score
           FROM terms WHERE terms MATCH ? ${where} ORDER BY score DESC, id LIMIT ?`,
        )
        .all(terms.map((term) => `"${term}"`).join(' OR '), ...(condition?.parameters ?? []), limit)
        .map((row) => ({ id: Number(row.id), score: Math.min(1, Number(row.score) / worth) }));
    },
    refreshCommonTerms() {
      database.exec('DELETE FROM common_term');
      const total = chunkCount();
      if (total < LARGE_COLLECTION) return;
      database
        .prepare('INSERT INTO common_term (term) SELECT term FROM vocabulary WHERE doc > ?')
        .run(total * COMMON_SHARE);
    },
  };
}

/** The weight of a term in BM25, kept above 0 for terms that most chunks have. */
function inverseFrequency(total: number, containing: number): number {
  return Math.log(1 + (total - containing + 0.5) / (containing + 0.5));
}
