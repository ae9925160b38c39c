import fc from 'fast-check';
import { expect, test } from 'vitest';
import { filterSchema, formatFilter, matchesFilter, parseFilter } from '../../src/domain/filter.ts';

test('a key that is given twice accepts either value, without duplicates', () => {
  expect(parseFilter(['module=basics', 'module=advanced', 'chapter=1', 'module=basics'])).toEqual({
    module: ['basics', 'advanced'],
    chapter: ['1'],
  });
});

test('only the first equals sign separates key from value', () => {
  expect(parseFilter([' url = https://a.test/?q=1&r=2 '])).toEqual({ url: ['https://a.test/?q=1&r=2'] });
});

test.each(['module', '=basics', 'module=', '  =  ', '', '__proto__=x'])(
  'the filter %j is refused as bad input',
  (text) => {
    expect(() => parseFilter([text])).toThrow(
      expect.objectContaining({ kind: 'invalid_input', message: expect.stringContaining('key=value') }),
    );
  },
);

test('every well-formed list of expressions is read into what it says, and nothing is lost', () => {
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

test('keys that every object inherits are ordinary keys', () => {
  const filter = parseFilter(['constructor=x', 'toString=y']);
  expect(filter).toEqual({ constructor: ['x'], toString: ['y'] });
  expect(matchesFilter(filter, {})).toBe(false);
});

test('a chunk passes when every key has one of its values', () => {
  const filter = parseFilter(['module=basics', 'module=advanced', 'chapter=1']);
  expect(matchesFilter(filter, { module: 'advanced', chapter: '1', title: 'any' })).toBe(true);
  expect(matchesFilter(filter, { module: 'advanced', chapter: '2' })).toBe(false);
  expect(matchesFilter(filter, { module: null, chapter: '1' })).toBe(false);
  expect(matchesFilter({}, {})).toBe(true);
});

test('a filter is shown the way it is written', () => {
  expect(formatFilter({ module: ['basics', 'advanced'] })).toBe('module=basics module=advanced');
});
