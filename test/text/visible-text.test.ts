import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLine, visibleText } from '../../src/text/visible-text.ts';
import { anyCharacter } from '../support/any-character.ts';
import { threadCpuTimeMs } from '../support/cpu-time.ts';

const forbidden = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom(
        '\x1b',
        '\x1b[',
        '\x1b]',
        '\x1bP',
        '\x9b',
        '\x9d',
        '\x07',
        '\x1b\\',
        '\x9c',
        '31m',
        '\u202e',
      ),
    ),
  )
  .map((parts) => parts.join(''));

test('removes everything that a terminal interprets', () => {
  fc.assert(fc.property(hostile, (text) => !forbidden.test(visibleText(text))));
});

test('is idempotent', () => {
  fc.assert(fc.property(hostile, (text) => visibleText(visibleText(text)) === visibleText(text)));
});

test('keeps plain text', () => {
  const plain = fc.string({ unit: 'grapheme' }).filter((text) => !forbidden.test(text));
  fc.assert(fc.property(plain, (text) => visibleText(text) === text));
  expect(visibleText('Tabs\tand\nlines, naïve 日本語 👩‍🔬 שלום')).toBe(
    'Tabs\tand\nlines, naïve 日本語 👩‍🔬 שלום',
  );
});

test('removes escape sequences with their payload', () => {
  expect(visibleText('\x1b[1;31mred\x1b[0m')).toBe('red');
  expect(visibleText('\x1b]0;new title\x07text')).toBe('text');
  expect(visibleText('\x1b]8;;https://evil.test\x1b\\click\x1b]8;;\x1b\\')).toBe('click');
  expect(visibleText('\x1bPq#0;2;0;0;0\x1b\\after')).toBe('after');
  expect(visibleText('\x9b2Jcleared\x9dtitle\x9c')).toBe('cleared');
  expect(visibleText('\x1bcreset\x1b(B')).toBe('reset');
});

test('keeps the text after an unterminated escape', () => {
  expect(visibleText('before \x1b]0;the rest')).toBe('before 0;the rest');
});

test('removes carriage returns', () => {
  expect(visibleText('safe\revil\r\nnext')).toBe('safeevil\nnext');
});

test('converts line and paragraph separators to line feeds', () => {
  expect(visibleText('a\u2028b\u2029c')).toBe('a\nb\nc');
});

test('takes linear time for many unterminated sequences', () => {
  const started = threadCpuTimeMs();
  for (const opening of ['\x1b]', '\x9d', '\x1b[1', '\x1bP\x1b']) visibleText(opening.repeat(200_000));
  expect(threadCpuTimeMs() - started).toBeLessThan(20_000);
});

test('cuts to one line within the limit without splitting a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 40 }), (text, max) => {
      const line = oneLine(text, max);
      expect(line.length).toBeLessThanOrEqual(max);
      expect(line).not.toMatch(/[\n\t]/);
      expect(line.isWellFormed()).toBe(true);
    }),
  );
  expect(oneLine('  one\n two\tthree ', 9)).toBe('one two…');
  expect(oneLine('short', 9)).toBe('short');
});
