import type { EvidenceSource } from './evidence.ts';
import { findBlocks } from './markdown-blocks.ts';
import { oncePerChunk } from './once-per-chunk.ts';
import { type WrittenWord, writtenWordsOf } from './plain-words.ts';
import { splitSentences } from './split-sentences.ts';

/** The words of a chunk as they stand there. */
export interface Wording {
  /** With every block of code as one of them. */
  sentences: string[];
  /** Whether words are one or more whole sentences of the text, in any case. */
  holdsWhole(words: readonly WrittenWord[]): boolean;
  /** Whether words stand in a row, in the same case but for the first letter. */
  holdsQuote(words: readonly WrittenWord[]): boolean;
}

export const wordingOf = oncePerChunk((chunk: EvidenceSource): Wording => {
  const code = findBlocks(chunk.text).filter(({ kind }) => kind === 'code');
  const ranges = [...splitSentences(chunk.text), ...code].sort((a, b) => a.start - b.start);
  const sentences = ranges.map(({ start, end }) => chunk.text.slice(start, end));
  const words = sentences.flatMap((text) => {
    const ofSentence = writtenWordsOf(text);
    return ofSentence.map((word, index) => ({
      ...word,
      starts: index === 0 || ofSentence[index - 1]?.endsSentence === true,
      ends: index === ofSentence.length - 1 || word.endsSentence,
    }));
  });
  const lower = createWordSearch(words.map((word) => word.lower));
  let written: WordSearch | undefined;

  return {
    sentences,
    holdsWhole: (sought) =>
      lower.find(
        sought.map((word) => word.lower),
        (first, last) => words[first]?.starts === true && words[last]?.ends === true,
      ),
    holdsQuote(sought) {
      written ??= createWordSearch([...words, ...placeOf(chunk)].map(({ text }) => text));
      const search = written;
      const [first = '', ...rest] = sought.map(({ text }) => text);
      const cases = new Set([first, first.charAt(0).toLowerCase() + first.slice(1), capitalised(first)]);
      return [...cases].some((word) => search.find([word, ...rest], () => true));
    },
  };
});

function placeOf({ title, headings }: EvidenceSource): WrittenWord[] {
  return writtenWordsOf([title, ...headings].join('\n'));
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

type WordSearch = ReturnType<typeof createWordSearch>;

/** Words in a row, found by the engine's own search in a text of all words. */
function createWordSearch(words: readonly string[]) {
  const joined = ` ${words.join(' ')} `;
  const indexAt = new Map<number, number>();
  let at = 0;
  words.forEach((word, index) => {
    indexAt.set(at, index);
    at += word.length + 1;
  });
  return {
    find(sought: readonly string[], accepts: (first: number, last: number) => boolean): boolean {
      if (sought.length === 0) return false;
      const text = ` ${sought.join(' ')} `;
      for (let found = joined.indexOf(text); found >= 0; found = joined.indexOf(text, found + 1)) {
        const first = indexAt.get(found);
        if (first !== undefined && accepts(first, first + sought.length - 1)) return true;
      }
      return false;
    },
  };
}
