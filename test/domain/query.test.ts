import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createQuery, filterSchema, formatFilter, parseFilter } from '../../src/domain/query.ts';

test('rejects a blank query', () => {
  expect(createQuery({ text: '  topics ' })).toEqual({ text: 'topics', topK: 5, filter: {} });
  expect(() => createQuery({ text: ' \n\t' })).toThrow(expect.objectContaining({ kind: 'invalid_input' }));
});

test('accepts a topK from 1 to 100', () => {
  expect(createQuery({ text: 'a', topK: 1 }).topK).toBe(1);
  expect(createQuery({ text: 'a', topK: 100 }).topK).toBe(100);
  for (const topK of [0, 101, 2.5, Number.NaN]) {
    expect(() => createQuery({ text: 'a', topK })).toThrow(/topK/);
  }
});

test('has metadata filters', () => {
  expect(createQuery({ text: 'a', filter: { module: ['basics'] } }).filter).toEqual({ module: ['basics'] });
  expect(() => createQuery({ text: 'a', filter: { module: [] } })).toThrow(/filter/);
});

test('a repeated key accepts several values, without duplicates', () => {
  expect(parseFilter(['module=basics', 'module=advanced', 'chapter=1', 'module=basics'])).toEqual({
    module: ['basics', 'advanced'],
    chapter: ['1'],
  });
});

test('only the first equals sign separates key from value', () => {
  expect(parseFilter([' url = https://a.test/?q=1&r=2 '])).toEqual({ url: ['https://a.test/?q=1&r=2'] });
});

test.each(['module', '=basics', 'module=', '  =  ', '', '__proto__=x'])('rejects the filter %j', (text) => {
  expect(() => parseFilter([text])).toThrow(
    expect.objectContaining({ kind: 'invalid_input', message: expect.stringContaining('key=value') }),
  );
});

test('parses every well-formed list of expressions', () => {
  const word = fc.stringMatching(/^[a-z:.][a-z:. ]{0,6}[a-z]$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word)), (pairs) => {
      const filter = parseFilter(pairs.map(([key, value]) => `${key}=${value}`));
      expect(filterSchema.parse(filter)).toEqual(filter);
      for (const [key, value] of pairs) expect(filter[key]).toContain(value);
      expect(Object.values(filter).flat()).toHaveLength(new Set(pairs.map((pair) => pair.join('='))).size);
    }),
  );
});

test('treats inherited property names as ordinary keys', () => {
  const filter = parseFilter(['constructor=x', 'toString=y']);
  expect(filter).toEqual({ constructor: ['x'], toString: ['y'] });
});

test('formats a filter as it is written', () => {
  expect(formatFilter({ module: ['basics', 'advanced'] })).toBe('module=basics module=advanced');
});
