import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVisibleStream, visibleText } from '../../src/text/visible-text.ts';
import { anyCharacter } from '../support/any-character.ts';

const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 5 }),
      fc.constantFrom(
        '\x1b',
        '\x1b[',
        '\x1b]0;',
        '\x1bP',
        '\x9b',
        '\x9d',
        '\x07',
        '\x1b\\',
        '\x9c',
        '31m',
        '(',
        '\u202e',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

test('shows the same text however it is split', () => {
  fc.assert(
    fc.property(hostile, fc.array(fc.nat(20)), (text, lengths) => {
      const stream = createVisibleStream();
      let shown = '';
      let rest = text;
      for (const length of lengths) {
        shown += stream.push(rest.slice(0, length));
        rest = rest.slice(length);
      }
      shown += stream.push(rest) + stream.end();
      expect(shown).toBe(visibleText(text));
    }),
    { numRuns: 2000 },
  );
});

test('removes an escape sequence that is split between deltas', () => {
  const stream = createVisibleStream();
  const deltas = ['safe \x1b', '[3', '1mred\x1b]8;;https://evil', '.test\x1b', '\\click\x1b]8;;\x07 end'];
  const shown = deltas.map((delta) => stream.push(delta));
  expect([...shown, stream.end()]).toEqual(['safe ', '', 'red', '', 'click end', '']);
});

test('does not hold back an unterminated sequence forever', () => {
  const stream = createVisibleStream();
  let shown = '';
  for (let i = 0; i < 200; i += 1) shown += stream.push(i === 0 ? '\x1b]0;' : 'ten chars ');
  expect(shown.length).toBeGreaterThan(900);
  expect(shown).not.toContain('\x1b');
});

test('does not split surrogate pairs', () => {
  const stream = createVisibleStream();
  expect([stream.push('a\ud83d'), stream.push('\ude00b'), stream.end()]).toEqual(['a', '😀b', '']);
});
