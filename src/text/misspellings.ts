const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** Long words may have two extra letters: authen(ti)fication. */
const LONG_WORD = 8;

/** Weights by how common an error is. A replaced letter may just as well make another word. */
const SWAPPED = 4;
const DOUBLED = 4;
const MISSING = 2;
const EXTRA = 2;
const REPLACED = 1;

export interface NearWord {
  word: string;
  /** How likely the error is, relative to the others. */
  weight: number;
  /** One letter was replaced. */
  replaced: boolean;
}

/** The words that are one typing error away from a word of ASCII letters. The first letter is kept. */
export function nearWords(word: string): NearWord[] {
  const found = new Map<string, NearWord>();
  const add = (near: string, weight: number, replaced = false) => {
    if (near !== word && (found.get(near)?.weight ?? 0) < weight)
      found.set(near, { word: near, weight, replaced });
  };
  for (let at = 0; at < word.length; at += 1) {
    const [before, letter = '', after] = [word.slice(0, at), word[at], word.slice(at + 1)];
    add(`${before}${after[0] ?? ''}${letter}${after.slice(1)}`, SWAPPED);
    add(`${before}${letter}${letter}${after}`, DOUBLED);
    if (at > 0) add(before + after, letter === word[at - 1] ? DOUBLED : EXTRA);
    if (at > 0 && word.length >= LONG_WORD) add(before + after.slice(1), REPLACED);
    for (const other of LETTERS) {
      add(before + letter + other + after, MISSING);
      if (at > 0) add(before + other + after, REPLACED, true);
    }
  }
  return [...found.values()];
}
