import fc from 'fast-check';
import { expect, test } from 'vitest';
import { revealHidden } from '../../../src/web/chat/reveal-hidden.ts';
import { anyCharacter } from '../../support/any-character.ts';

test('what reorders or hides is named in its place', () => {
  expect(revealHidden('a\u202eb\u2066c')).toBe('a⟨U+202E⟩b⟨U+2066⟩c');
  expect(revealHidden('x\u{e0041}\0')).toBe('x⟨U+E0041⟩⟨U+0000⟩');
});

test('lines, tabs, joined emoji and scripts that need joiners stay as they are', () => {
  for (const text of ['a\r\n\tb', '👩‍🚀 é', 'می‌خواهم', 'שלום', 'co\u00adoperate'])
    expect(revealHidden(text)).toBe(text);
});

test('whatever the text, nothing hidden is left and revealing again changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const shown = revealHidden(text);
      expect(shown).not.toMatch(/[\0-\x08\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u);
      expect(revealHidden(shown)).toBe(shown);
    }),
  );
});
