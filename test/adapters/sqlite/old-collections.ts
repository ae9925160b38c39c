import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import type { DocumentWrite } from '../../../src/ports/chunk-store.ts';

export const OLD_IDENTITY = { embedder: 'test:eight', dimensions: 8 };

const CHECKED = ['meta', 'document', 'chunk', 'vector', 'segment', 'segment_meta', 'text_segment', 'posting'];

/** SQL that changes a new collection back to an earlier format. */
const THIRD_FORMAT = `${CHECKED.map((table) => `ALTER TABLE ${table} DROP COLUMN crc;`).join('')}
  DROP TABLE word_vectors; PRAGMA user_version = 3;`;
const SECOND_FORMAT = `${THIRD_FORMAT} DROP TABLE unembedded; PRAGMA user_version = 2;`;
const FIRST_FORMAT = `${SECOND_FORMAT}
  DROP TABLE text_segment; DROP TABLE posting; ALTER TABLE chunk DROP COLUMN location;
  CREATE VIRTUAL TABLE terms USING fts5 (heading, body, content='', contentless_delete=1, tokenize='ascii');
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (terms, row);
  CREATE TABLE common_term (term TEXT PRIMARY KEY) WITHOUT ROWID;
  PRAGMA user_version = 1;
`;
const DOWNGRADES = { 1: FIRST_FORMAT, 2: SECOND_FORMAT, 3: THIRD_FORMAT };

/** Creates a collection `old` of an earlier format and returns its path. */
export async function createOldCollection(
  directory: string,
  version: keyof typeof DOWNGRADES,
  documents: readonly DocumentWrite[],
): Promise<string> {
  const made = await createSqliteCatalog(directory).openOrCreate('old', OLD_IDENTITY);
  await made.write(documents);
  await made.close();
  const path = join(directory, 'old.sqlite');
  const file = new DatabaseSync(path);
  file.exec(DOWNGRADES[version]);
  file.close();
  return path;
}

/** The format of a file, and the number of its documents; throws if it is damaged. */
export function inspectCollection(path: string): { version: number; documents: number } {
  const database = new DatabaseSync(path);
  try {
    const [integrity] = database.prepare('PRAGMA integrity_check').all();
    if (integrity?.integrity_check !== 'ok') throw new Error(String(integrity?.integrity_check));
    return {
      version: Number(database.prepare('PRAGMA user_version').get()?.user_version),
      documents: Number(database.prepare('SELECT count(*) AS n FROM document').get()?.n),
    };
  } finally {
    database.close();
  }
}
