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

export interface LocatedTokens {
  ids: number[];
  /** Where each begins and ends among the characters of the text. */
  starts: number[];
  ends: number[];
}

export interface Tokenize {
  /** The model's token ids of a text. */
  (text: string): number[];
  /** The same, and where they stand; this takes longer. */
  locate(text: string): LocatedTokens;
}

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

  /** Adds the pieces of a word, and where in it each ends, if someone asks. */
  function addWord(word: string, ids: number[], ends?: number[]): void {
    const whole = word.length <= LONGEST_PIECE ? idOf(word) : undefined;
    if (whole !== undefined) {
      ids.push(whole);
      ends?.push(word.length);
      return;
    }
    const characters = [...word];
    const before = ids.length;
    let start = 0;
    let length = 0;
    while (start < characters.length && characters.length <= LONGEST_WORD) {
      const end = endOfPiece(characters, start, ids);
      if (end === start) break;
      if (ends !== undefined) length += characters.slice(start, end).join('').length;
      ends?.push(length);
      start = end;
    }
    if (start === characters.length) return;
    ids.splice(before, Number.POSITIVE_INFINITY, UNKNOWN);
    ends?.splice(before, Number.POSITIVE_INFINITY, word.length);
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

  function tokenize(text: string): number[] {
    const ids: number[] = [];
    for (const section of text.split(SPECIAL_TEXT)) {
      const special = SPECIAL.get(section);
      if (special !== undefined) ids.push(special);
      else for (const word of wordsOf(section)) addWord(word, ids);
    }
    return ids;
  }

  /** The same tokens, and where they stand. */
  function locate(text: string): LocatedTokens {
    const ids: number[] = [];
    const starts: number[] = [];
    const ends: number[] = [];
    let offset = 0;
    for (const section of text.split(SPECIAL_TEXT)) {
      const special = SPECIAL.get(section);
      if (special !== undefined) {
        ids.push(special);
        starts.push(offset);
        ends.push(offset + section.length);
      } else {
        const { folded, origins } = foldWithOrigins(section);
        for (const { 0: word, index } of folded.matchAll(WORDS)) {
          const pieces: number[] = [];
          const endsInWord: number[] = [];
          addWord(word, pieces, endsInWord);
          pieces.forEach((id, piece) => {
            ids.push(id);
            starts.push(offset + origins.start(index + (endsInWord[piece - 1] ?? 0)));
            ends.push(offset + origins.end(index + (endsInWord[piece] ?? 0) - 1));
          });
        }
      }
      offset += section.length;
    }
    return { ids, starts, ends };
  }

  return Object.assign(tokenize, { locate });
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

interface Folded {
  folded: string;
  /** Where the character of the text begins and ends that a character of the folded one came from. */
  origins: { start(at: number): number; end(at: number): number };
}

/** What `wordsOf` looks for words in, character by character. */
function foldWithOrigins(text: string): Folded {
  if (PLAIN.test(text)) {
    return { folded: text.toLowerCase(), origins: { start: (at) => at, end: (at) => at + 1 } };
  }
  let folded = '';
  const starts: number[] = [];
  const ends: number[] = [];
  let offset = 0;
  for (const character of text) {
    const made = character
      .replace(INVISIBLE, '')
      .replace(IDEOGRAPH, ' $& ')
      .toLowerCase()
      .normalize('NFD')
      .replace(ACCENT, '');
    folded += made;
    for (let i = 0; i < made.length; i += 1) {
      starts.push(offset);
      ends.push(offset + character.length);
    }
    offset += character.length;
  }
  const at = (places: readonly number[], index: number) => places[index] ?? offset;
  return { folded, origins: { start: (index) => at(starts, index), end: (index) => at(ends, index) } };
}
