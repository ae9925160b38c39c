import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createFullText } from '../../../src/adapters/sqlite/full-text.ts';
import { createSchema } from '../../../src/adapters/sqlite/schema.ts';
import { markDead } from '../../../src/adapters/sqlite/segments.ts';
import { compactTerms, createTermWriter, TERM_SEGMENTS } from '../../../src/adapters/sqlite/term-segments.ts';
import { lexicalScore, termWorth } from '../../../src/domain/rank-hits.ts';
import { indexTerms, queryTerms } from '../../../src/text/terms.ts';

const WORDS = 'owl newt toad lynx moth crab wren stoat the of a in river forest night water'.split(' ');
const QUERIES = ['owl', 'newt in the river', 'lynx moth crab wren', 'the water of the night', 'stoat badger'];

/** Texts of uneven length and with words of uneven frequency, the same on every run. */
function textOf(number: number): string {
  const length = 3 + ((number * 7) % 23);
  return Array.from({ length }, (_, at) => WORDS[(number * (at + 3) + at * at) % ((number % 16) + 1)]).join(
    ' ',
  );
}

/** The scores of SQLite's own full text for the same words, by chunk. */
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
  const fullText = createFullText(database);
  for (const query of QUERIES) {
    const expected = scoresOfFts5(texts, query);
    const found = fullText.search(query, texts.size, null);
    expect(found.map(({ id }) => id)).toEqual(expected.map(([id]) => id));
    found.forEach(({ score }, index) => {
      expect(score).toBeCloseTo(expected[index]?.[1] ?? -1, 12);
    });
  }
}

test('words are scored as FTS5 scores them, also after texts went and segments were merged', () => {
  const database = new DatabaseSync(':memory:');
  createSchema(database);
  const texts = new Map(Array.from({ length: 200 }, (_, index) => [index + 1, textOf(index)]));
  for (let first = 1; first <= 200; first += 40) {
    const terms = createTermWriter(database);
    for (let id = first; id < first + 40; id += 1) terms.add(id, '', [], texts.get(id) ?? '');
    terms.flush();
  }
  expectSameScores(database, texts);

  const gone = [3, 40, 41, 77, 150, 200];
  markDead(database, TERM_SEGMENTS, gone);
  for (const id of gone) texts.delete(id);
  expectSameScores(database, texts);

  compactTerms(database);
  expect(database.prepare('SELECT size, dead FROM text_segment').all()).toEqual([{ size: 194, dead: 0 }]);
  expectSameScores(database, texts);
  database.close();
});
