import { expect, test } from 'vitest';
import { createQuery } from '../../src/domain/query.ts';

test('a query needs a text that is not blank', () => {
  expect(createQuery({ text: '  topics ' })).toEqual({ text: 'topics', topK: 5, filter: {} });
  expect(() => createQuery({ text: ' \n\t' })).toThrow(expect.objectContaining({ kind: 'invalid_input' }));
});

test('a query asks for 1 to 100 chunks', () => {
  expect(createQuery({ text: 'a', topK: 1 }).topK).toBe(1);
  expect(createQuery({ text: 'a', topK: 100 }).topK).toBe(100);
  for (const topK of [0, 101, 2.5, Number.NaN]) {
    expect(() => createQuery({ text: 'a', topK })).toThrow(/topK/);
  }
});

test('a query carries metadata filters', () => {
  expect(createQuery({ text: 'a', filter: { module: ['basics'] } }).filter).toEqual({ module: ['basics'] });
  expect(() => createQuery({ text: 'a', filter: { module: [] } })).toThrow(/filter/);
});
