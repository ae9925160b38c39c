import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutToMaxTokenCount, maxTokenCount } from '../../src/text/estimate-tokens.ts';
import { anyCharacter } from '../support/any-character.ts';

const anyText = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: 'grapheme', maxLength: 200 }));

test('adds up over texts with a space between', () => {
  fc.assert(
    fc.property(anyText, anyText, fc.constantFrom(' ', '\n', '\t ', '\u2028'), (a, b, space) => {
      expect(maxTokenCount(a + space + b)).toBe(maxTokenCount(a) + maxTokenCount(b));
    }),
  );
});

test('cuts to the longest start that fits', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, max) => {
      const cut = cutToMaxTokenCount(text, max);
      expect(text.startsWith(cut)).toBe(true);
      expect(maxTokenCount(cut)).toBeLessThanOrEqual(max);
      if (maxTokenCount(text) <= max) expect(cut).toBe(text);
    }),
  );
  expect(cutToMaxTokenCount('robot '.repeat(10), 4)).toBe('robot robot ');
  expect(cutToMaxTokenCount('x'.repeat(100), 10)).toBe('xxxxxxxxxx');
});

test.each([
  ['A robot is a machine that senses, decides and acts.', 10, 18],
  ['机器人', 3, 3],
  ['rclpy.spin_once(node, timeout_sec=0.1)', 15, 22],
])('%s counts at least as much as tokenizers, and at most twice that', (text, least, most) => {
  expect(maxTokenCount(text)).toBeGreaterThanOrEqual(least);
  expect(maxTokenCount(text)).toBeLessThanOrEqual(most);
});
