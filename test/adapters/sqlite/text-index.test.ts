import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { markChunksRemoved } from '../../../src/adapters/sqlite/chunk-segments.ts';
import { createCollectionSchema } from '../../../src/adapters/sqlite/collection-file.ts';
import { createTextIndex } from '../../../src/adapters/sqlite/text-index.ts';
import {
  compactTextSegments,
  createTextSegmentWriter,
  TEXT_SEGMENTS,
} from '../../../src/adapters/sqlite/text-segments.ts';
import { lexicalScore, termWorth } from '../../../src/domain/rank-hits.ts';
import { indexTerms, queryTerms } from '../../../src/text/terms.ts';

const WORDS = 'owl newt toad lynx moth crab wren stoat the of a in river forest night water'.split(' ');
const QUERIES = ['owl', 'newt in the river', 'lynx moth crab wren', 'the water of the night', 'stoat badger'];

/** Deterministic texts of uneven length and word frequency. */
function textOf(number: number): string {
  const length = 3 + ((number * 7) % 23);
  return Array.from({ length }, (_, at) => WORDS[(number * (at + 3) + at * at) % ((number % 16) + 1)]).join(
    ' ',
  );
}

/** The ids and scores of FTS5 for the same words. */
function scoresOfFts5(texts: ReadonlyMap<number, string>, query: string): [number, number][] {
  const database = new DatabaseSync(':memory:');
  database.exec("CREATE VIRTUAL TABLE terms USING fts5 (body, tokenize='ascii')");
  const insert = database.prepare('INSERT INTO terms (rowid, body) VALUES (?, ?)');
  for (const [id, text] of texts) insert.run(id, indexTerms(text).join(' '));
  const terms = queryTerms(query);
  const containing = (term: string) =>
    [...texts.values()].filter((text) => indexTerms(text).includes(term)).length;
  const worth = terms.reduce((sum, term) => sum + termWorth(texts.size, containing(term)), 0);
  const rows = database
    .prepare(
      'SELECT rowid AS id, -bm25(terms) AS score FROM terms WHERE terms MATCH ? ORDER BY score DESC, id',
    )
    .all(terms.map((term) => `"${term}"`).join(' OR '));
  database.close();
  return rows.map((row) => [Number(row.id), lexicalScore(Number(row.score) / worth)]);
}

function expectSameScores(database: DatabaseSync, texts: ReadonlyMap<number, string>): void {
  const index = createTextIndex(database);
  for (const query of QUERIES) {
    const expected = scoresOfFts5(texts, query);
    const found = index.search(query, texts.size, null);
    expect(found.map(({ id }) => id)).toEqual(expected.map(([id]) => id));
    found.forEach(({ score }, rank) => {
      expect(score).toBeCloseTo(expected[rank]?.[1] ?? -1, 12);
    });
  }
}

test('scores words like FTS5, also after removals and merged segments', () => {
  const database = new DatabaseSync(':memory:');
  createCollectionSchema(database);
  const texts = new Map(Array.from({ length: 200 }, (_, index) => [index + 1, textOf(index)]));
  for (let first = 1; first <= 200; first += 40) {
    const writer = createTextSegmentWriter(database);
    for (let id = first; id < first + 40; id += 1) writer.add(id, '', [], texts.get(id) ?? '');
    writer.flush();
  }
  expectSameScores(database, texts);

  const removed = [3, 40, 41, 77, 150, 200];
  markChunksRemoved(database, TEXT_SEGMENTS, removed);
  for (const id of removed) texts.delete(id);
  expectSameScores(database, texts);

  compactTextSegments(database);
  expect(database.prepare('SELECT size, dead FROM text_segment').all()).toEqual([{ size: 194, dead: 0 }]);
  expectSameScores(database, texts);
  database.close();
});
