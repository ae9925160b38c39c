import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Embedder, WORD_VALUE_STEP } from '../../src/ports/embedder.ts';
import { RESULTS_DIRECTORY } from './results.ts';

/** Texts per call of the embedder and per transaction. */
const BATCH = 64;

export type EmbedWords = (texts: readonly string[]) => Promise<Int8Array[]>;

/** The word vectors of texts, cached on disk. */
export function createWordVectorCache(embedder: Embedder): EmbedWords {
  mkdirSync(RESULTS_DIRECTORY, { recursive: true });
  const database = new DatabaseSync(join(RESULTS_DIRECTORY, 'word-vectors.sqlite'));
  database.exec(
    'PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS words (hash TEXT PRIMARY KEY, vectors BLOB)',
  );
  const select = database.prepare('SELECT vectors FROM words WHERE hash = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO words VALUES (?, ?)');
  const hashOf = (text: string) =>
    createHash('sha256').update(`${embedder.id} ${WORD_VALUE_STEP}\n${text}`).digest('hex');

  function read(text: string): Int8Array | null {
    const row = select.get(hashOf(text)) as { vectors: Uint8Array } | undefined;
    return row === undefined ? null : Int8Array.from(new Int8Array(row.vectors.slice().buffer));
  }

  return async (texts) => {
    const missing = [...new Set(texts.filter((text) => read(text) === null))];
    for (let start = 0; start < missing.length; start += BATCH) {
      const batch = missing.slice(start, start + BATCH);
      const embedded = (await embedder.embedWords?.(batch)) ?? [];
      database.exec('BEGIN');
      embedded.forEach(({ words }, index) => {
        insert.run(hashOf(batch[index] ?? ''), new Uint8Array(words.buffer, words.byteOffset, words.length));
      });
      database.exec('COMMIT');
    }
    return texts.map((text) => read(text) ?? new Int8Array());
  };
}
