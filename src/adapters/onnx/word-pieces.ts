/** Token ids by word piece. Pieces that continue a word begin with `##`. */
export type Vocabulary = Readonly<Record<string, number>>;

/** Ids in the vocabulary of the built-in model, whose hash is pinned. */
const UNK_TOKEN = 100;
const CLS_TOKEN = 101;
const SEP_TOKEN = 102;
const SPECIAL = new Map([
  ['[PAD]', 0],
  ['[UNK]', UNK_TOKEN],
  ['[CLS]', CLS_TOKEN],
  ['[SEP]', SEP_TOKEN],
  ['[MASK]', 103],
]);
const SPECIAL_TEXT = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
/** The longest piece of the vocabulary, without the `##`. */
const MAX_PIECE_LENGTH = 18;
const MAX_WORD_LENGTH = 100;

const ASCII = /^[\t\n\r -~]*$/;
const ASCII_WORDS = /[^\s!-/:-@[-`{-~]+|[!-/:-@[-`{-~]/g;
const WORDS = /[^\s\p{P}!-/:-@[-`{-~]+|[\p{P}!-/:-@[-`{-~]/gu;
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}\ufffd]|(?![\t\n\r])\p{Cc}/gu;
const IDEOGRAPH = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/g;
const ACCENT = /\p{Mn}/gu;

export interface LocatedTokens {
  ids: number[];
  starts: number[];
  ends: number[];
}

export interface WordPieceTokenizer {
  tokenize(text: string): number[];
  /** The same with their positions; slower. */
  locate(text: string): LocatedTokens;
}

/**
 * Uncased BERT tokens: words and punctuation, split into the longest pieces of the vocabulary. The result equals that of
 * `@huggingface/tokenizers`, which takes three times as long to load (decisions/0007).
 */
export function createTokenizer(vocabulary: Vocabulary): WordPieceTokenizer {
  // Inherited properties such as `constructor` are not numbers.
  const idOf = (piece: string): number | undefined => {
    const id: unknown = vocabulary[piece];
    return typeof id === 'number' ? id : undefined;
  };

  /** Appends the pieces of a word to `ids`, and where each ends in the word to `ends`. */
  function addWord(word: string, ids: number[], ends?: number[]): void {
    const whole = word.length <= MAX_PIECE_LENGTH ? idOf(word) : undefined;
    if (whole !== undefined) {
      ids.push(whole);
      ends?.push(word.length);
      return;
    }
    const characters = [...word];
    const before = ids.length;
    let start = 0;
    let length = 0;
    while (start < characters.length && characters.length <= MAX_WORD_LENGTH) {
      const end = endOfPiece(characters, start, ids);
      if (end === start) break;
      if (ends !== undefined) length += characters.slice(start, end).join('').length;
      ends?.push(length);
      start = end;
    }
    if (start === characters.length) return;
    ids.splice(before, Number.POSITIVE_INFINITY, UNK_TOKEN);
    ends?.splice(before, Number.POSITIVE_INFINITY, word.length);
  }

  /** Appends the longest piece at `start`; returns its end, or `start` if there is none. */
  function endOfPiece(characters: readonly string[], start: number, ids: number[]): number {
    const prefix = start === 0 ? '' : '##';
    for (let end = Math.min(characters.length, start + MAX_PIECE_LENGTH); end > start; end -= 1) {
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
      else for (const word of splitWords(section)) addWord(word, ids);
    }
    return ids;
  }

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

  return { tokenize, locate };
}

/** Adds the special tokens around a text, cut to `maxTokens`. */
export function toModelInput(ids: readonly number[], maxTokens: number): number[] {
  return [CLS_TOKEN, ...ids.slice(0, maxTokens - 2), SEP_TOKEN];
}

function splitWords(text: string): readonly string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_WORDS) ?? [];
  return foldText(text).match(WORDS) ?? [];
}

function foldText(text: string): string {
  const spaced = text.replace(INVISIBLE, '').replace(IDEOGRAPH, ' $& ');
  return spaced.toLowerCase().normalize('NFD').replace(ACCENT, '');
}

interface FoldedText {
  folded: string;
  /** The start and end in the original text of the character at a position of the folded text. */
  origins: { start(at: number): number; end(at: number): number };
}

/** Folds a text as `splitWords` does, character by character. */
function foldWithOrigins(text: string): FoldedText {
  if (ASCII.test(text)) {
    return { folded: text.toLowerCase(), origins: { start: (at) => at, end: (at) => at + 1 } };
  }
  let folded = '';
  const starts: number[] = [];
  const ends: number[] = [];
  let offset = 0;
  for (const character of text) {
    const made = foldText(character);
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
