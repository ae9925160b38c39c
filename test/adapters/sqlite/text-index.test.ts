import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { markChunksRemoved } from '../../../src/adapters/sqlite/chunk-segments.ts';
import { createCollectionSchema } from '../../../src/adapters/sqlite/collection-file.ts';
import { defineRowChecksum } from '../../../src/adapters/sqlite/row-checksums.ts';
import { createTextIndex } from '../../../src/adapters/sqlite/text-index.ts';
import {
  compactTextSegments,
  createTextSegmentWriter,
  TEXT_SEGMENTS,
} from '../../../src/adapters/sqlite/text-segments.ts';
import { lexicalScore, termWeight } from '../../../src/domain/rank-hits.ts';
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

/** A chunk that no query matches. */
const PADDING_ID = 201;

/** The ids and scores of FTS5 for the same words, if the average length is 100 terms. */
function scoresOfFts5(texts: ReadonlyMap<number, string>, query: string): [number, number][] {
  const database = new DatabaseSync(':memory:');
  database.exec("CREATE VIRTUAL TABLE terms USING fts5 (body, tokenize='ascii')");
  const insert = database.prepare('INSERT INTO terms (rowid, body) VALUES (?, ?)');
  let padding = 100 * texts.size;
  for (const [id, text] of texts) {
    if (id === PADDING_ID) continue;
    const words = indexTerms(text);
    insert.run(id, words.join(' '));
    padding -= words.length;
  }
  insert.run(PADDING_ID, 'padding '.repeat(padding));
  const terms = queryTerms(query);
  const containing = (term: string) =>
    [...texts.values()].filter((text) => indexTerms(text).includes(term)).length;
  const worth = terms.reduce((sum, term) => sum + termWeight(texts.size, containing(term)), 0);
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
  defineRowChecksum(database);
  createCollectionSchema(database);
  const texts = new Map(Array.from({ length: 200 }, (_, index) => [index + 1, textOf(index)]));
  texts.set(PADDING_ID, 'padding');
  for (let first = 1; first <= PADDING_ID; first += 40) {
    const writer = createTextSegmentWriter(database);
    for (let id = first; id < first + 40 && texts.has(id); id += 1) {
      writer.add(id, '', [], texts.get(id) ?? '');
    }
    writer.flush();
  }
  expectSameScores(database, texts);

  const removed = [3, 40, 41, 77, 150, 200];
  markChunksRemoved(database, TEXT_SEGMENTS, removed);
  for (const id of removed) texts.delete(id);
  expectSameScores(database, texts);

  compactTextSegments(database);
  expect(database.prepare('SELECT size, dead FROM text_segment').all()).toEqual([{ size: 195, dead: 0 }]);
  expectSameScores(database, texts);
  database.close();
});
