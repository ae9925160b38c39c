import type { DatabaseSync } from 'node:sqlite';
import { readMeta, writeMeta } from './collection-meta.ts';

/** From this size on, terms in more than a fifth of the chunks are left out of queries: they cost most and decide least. */
const LARGE_COLLECTION = 50_000;
const COMMON_SHARE = 0.2;
/** Going through all terms takes a while; it is not worth it before the collection has changed this much in size. */
const CHANGED_SHARE = 0.1;

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
