/** Ids of pieces of words, by piece. Those that continue a word begin with `##`. */
export type Vocabulary = Readonly<Record<string, number>>;

/** Ids in the one vocabulary that is ever loaded: the SHA-256 of its file is pinned. */
const UNKNOWN = 100;
const BEGINNING = 101;
const END = 102;
const SPECIAL = new Map([
  ['[PAD]', 0],
  ['[UNK]', UNKNOWN],
  ['[CLS]', BEGINNING],
  ['[SEP]', END],
  ['[MASK]', 103],
]);
const SPECIAL_TEXT = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
/** Of all pieces in it, without the `##`. */
const LONGEST_PIECE = 18;
/** A word with more characters is not looked up. */
const LONGEST_WORD = 100;

const PLAIN = /^[\t\n\r -~]*$/;
const PLAIN_WORDS = /[^\s!-/:-@[-`{-~]+|[!-/:-@[-`{-~]/g;
const WORDS = /[^\s\p{P}!-/:-@[-`{-~]+|[\p{P}!-/:-@[-`{-~]/gu;
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}\ufffd]|(?![\t\n\r])\p{Cc}/gu;
const IDEOGRAPH = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/g;
const ACCENT = /\p{Mn}/gu;

/** The model's token ids of a text. */
export type Tokenize = (text: string) => number[];

/**
 * The tokens of BERT without case: words and punctuation, cut into the longest pieces that the vocabulary has.
 * Gives what `@huggingface/tokenizers` gives for the model's file, which takes three times as long to load.
 */
export function createTokenize(vocabulary: Vocabulary): Tokenize {
  /** Every object has properties that nobody put into it; none is a number. */
  const idOf = (piece: string): number | undefined => {
    const id: unknown = vocabulary[piece];
    return typeof id === 'number' ? id : undefined;
  };

  function addWord(word: string, ids: number[]): void {
    const whole = word.length <= LONGEST_PIECE ? idOf(word) : undefined;
    if (whole !== undefined) {
      ids.push(whole);
      return;
    }
    const characters = [...word];
    const before = ids.length;
    let start = 0;
    while (start < characters.length && characters.length <= LONGEST_WORD) {
      const end = endOfPiece(characters, start, ids);
      if (end === start) break;
      start = end;
    }
    if (start < characters.length) ids.splice(before, Number.POSITIVE_INFINITY, UNKNOWN);
  }

  /** Adds the longest piece that begins at `start`; returns where it ends, or `start` if there is none. */
  function endOfPiece(characters: readonly string[], start: number, ids: number[]): number {
    const prefix = start === 0 ? '' : '##';
    for (let end = Math.min(characters.length, start + LONGEST_PIECE); end > start; end -= 1) {
      const id = idOf(prefix + characters.slice(start, end).join(''));
      if (id === undefined) continue;
      ids.push(id);
      return end;
    }
    return start;
  }

  return (text) => {
    const ids: number[] = [];
    for (const section of text.split(SPECIAL_TEXT)) {
      const special = SPECIAL.get(section);
      if (special !== undefined) ids.push(special);
      else for (const word of wordsOf(section)) addWord(word, ids);
    }
    return ids;
  };
}

/** With the tokens that the model expects around a text. */
export function asInput(ids: readonly number[], maxTokens: number): number[] {
  return [BEGINNING, ...ids.slice(0, maxTokens - 2), END];
}

function wordsOf(text: string): readonly string[] {
  if (PLAIN.test(text)) return text.toLowerCase().match(PLAIN_WORDS) ?? [];
  const spaced = text.replace(INVISIBLE, '').replace(IDEOGRAPH, ' $& ');
  return spaced.toLowerCase().normalize('NFD').replace(ACCENT, '').match(WORDS) ?? [];
}
