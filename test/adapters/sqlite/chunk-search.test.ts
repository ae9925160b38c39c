import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createChunkSearch } from '../../../src/adapters/sqlite/chunk-search.ts';
import { createCollectionSchema } from '../../../src/adapters/sqlite/collection-file.ts';
import { toBytes } from '../../../src/adapters/sqlite/database.ts';
import { createCheckedInsert, defineRowChecksum } from '../../../src/adapters/sqlite/row-checksums.ts';
import { createVectorSegmentWriter, quantizeVector } from '../../../src/adapters/sqlite/vector-segments.ts';
import { dotProduct } from '../../../src/domain/unit-vectors.ts';
import { blend, vectorOf } from '../../contracts/sample-documents.ts';

test('finds nearly the same ten vectors as an exact search', () => {
  const dimensions = 384;
  const database = new DatabaseSync(':memory:');
  defineRowChecksum(database);
  createCollectionSchema(database);
  const centres = Array.from({ length: 40 }, (_, index) => vectorOf(`centre ${index}`, dimensions));
  const member = (seed: string, index: number) =>
    blend(centres[index % centres.length] as Float32Array, vectorOf(seed, dimensions), 0.45);
  const vectors = Array.from({ length: 5000 }, (_, index) => member(`vector ${index}`, index));
  const insert = createCheckedInsert(database, 'vector', ['id']);
  const segments = createVectorSegmentWriter(database, dimensions);
  database.exec('BEGIN');
  vectors.forEach((vector, index) => {
    insert({ id: index + 1, v: toBytes(vector) });
    segments.add(index + 1, quantizeVector(vector));
  });
  segments.flush();
  database.exec('COMMIT');

  const { search } = createChunkSearch(database, dimensions);
  let agreed = 0;
  const queries = 60;
  for (let number = 0; number < queries; number += 1) {
    const query = member(`query ${number}`, number);
    const exact = vectors
      .map((vector, index) => ({ id: index + 1, score: dotProduct(query, vector) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 10);
    const found = search({ text: null, vector: query, limit: 10, filter: {} });
    agreed += exact.filter(({ id }) => found.some((hit) => hit.id === id)).length;
  }
  database.close();
  expect(agreed / (queries * 10)).toBeGreaterThan(0.995);
});
