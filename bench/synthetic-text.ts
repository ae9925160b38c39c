const SYLLABLES = [
  'ba',
  'ce',
  'dor',
  'fi',
  'gu',
  'hal',
  'jin',
  'ko',
  'lum',
  'mer',
  'nat',
  'op',
  'qui',
  'ros',
  'tav',
  'vex',
];
/** A share of words that few chunks have in common, as names and identifiers are. */
const RARE_SHARE = 0.15;
const WORDS_IN_A_SENTENCE = 14;

export interface TextSource {
  /** A paragraph of so many words. */
  paragraph(words: number): string;
}

/** Text with a natural distribution of words, from a natural text's words and made-up rare ones. */
export function createTextSource(words: readonly string[], random: () => number): TextSource {
  function word(): string {
    if (random() >= RARE_SHARE) return words[Math.floor(random() * words.length)] ?? '';
    return Array.from({ length: 4 }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join('');
  }

  return {
    paragraph(count) {
      let text = '';
      for (let i = 1; i <= count; i += 1) {
        text += word() + (i % WORDS_IN_A_SENTENCE === 0 || i === count ? '. ' : ' ');
      }
      return text.trimEnd();
    },
  };
}
