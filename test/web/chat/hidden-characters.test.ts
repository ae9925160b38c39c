import fc from 'fast-check';
import { expect, test } from 'vitest';
import { revealHiddenCharacters } from '../../../src/web/chat/hidden-characters.ts';
import { anyCharacter } from '../../support/any-character.ts';

test('replaces invisible and reordering characters by their code points', () => {
  expect(revealHiddenCharacters('a\u202eb\u2066c')).toBe('a⟨U+202E⟩b⟨U+2066⟩c');
  expect(revealHiddenCharacters('x\u{e0041}\0')).toBe('x⟨U+E0041⟩⟨U+0000⟩');
});

test('keeps line breaks, tabs, joined emoji and scripts that need joiners', () => {
  for (const text of ['a\r\n\tb', '👩‍🚀 é', 'می‌خواهم', 'שלום', 'co\u00adoperate'])
    expect(revealHiddenCharacters(text)).toBe(text);
});

test('leaves no hidden character in any text, and is idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const shown = revealHiddenCharacters(text);
      expect(shown).not.toMatch(/[\0-\x08\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u);
      expect(revealHiddenCharacters(shown)).toBe(shown);
    }),
  );
});
