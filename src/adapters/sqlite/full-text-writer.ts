import type { DatabaseSync } from 'node:sqlite';
import { indexTerms } from '../../lexical/terms.ts';

export interface FullTextWriter {
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
