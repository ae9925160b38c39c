// Control characters, marks that change the order of text, and invisible tag characters. Joiners and soft hyphens
// are not included: many scripts and emoji need them.
const HIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** Replaces characters that are invisible or that reorder text by their code points: `⟨U+202E⟩`. */
export function revealHiddenCharacters(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
