// Marks that reorder what is read, control characters, and the tag characters that spell words nobody sees. What
// only joins or parts letters stays: whole scripts, emoji and long words are written with it.
const HIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** The text with everything in it that a reader would not see, or see in the wrong order, named in its place. */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
